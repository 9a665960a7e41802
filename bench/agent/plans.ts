/** How much to look at. */
export interface Plan {
  /** Rounds of webhooks, ours and those of the bare server in turn, and how long each is. */
  readonly webhooks: { readonly rounds: number; readonly seconds: number };
  readonly polling: { readonly projects: number; readonly mergeRequests: number; readonly cycles: number };
  /** Merge requests that are opened, reviewed, and then commented on. */
  readonly events: number;
}

/** `quick` ends within 50 s on two cores. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: {
    webhooks: { rounds: 3, seconds: 1.5 },
    polling: { projects: 50, mergeRequests: 20, cycles: 3 },
    events: 8,
  },
  full: {
    webhooks: { rounds: 7, seconds: 10 },
    polling: { projects: 50, mergeRequests: 20, cycles: 10 },
    events: 40,
  },
};
