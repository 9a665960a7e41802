/** How often to look at each thing. */
export interface Plan {
  /** Loads of the page Now. */
  readonly loads: number;
  readonly changes: number;
  readonly actions: number;
  readonly idleMs: number;
  /** Of the gateway's load, each once with viewers and once without. */
  readonly rounds: number;
  readonly roundMs: number;
}

/** `quick` ends within 50 s on two cores. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: { loads: 3, changes: 20, actions: 40, idleMs: 6_000, rounds: 3, roundMs: 1_000 },
  full: { loads: 15, changes: 200, actions: 400, idleMs: 60_000, rounds: 9, roundMs: 3_000 },
};
