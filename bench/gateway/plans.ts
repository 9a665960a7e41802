/** How much to look at. */
export interface Plan {
  readonly rounds: number;
  /** Requests in each round of a comparison. */
  readonly singles: number;
  readonly batches: number;
  /** Seconds at 1,000 requests a second. */
  readonly pacedSeconds: number;
  /** Alerts that are followed to their runs; the fingerprints of the load are as many. */
  readonly remediations: number;
  readonly memory: { readonly from: number; readonly to: number };
}

/** `quick` ends within 50 s on two cores. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: {
    rounds: 3,
    singles: 3_000,
    batches: 600,
    pacedSeconds: 3,
    remediations: 50,
    memory: { from: 100_000, to: 1_000_000 },
  },
  full: {
    rounds: 7,
    singles: 20_000,
    batches: 3_000,
    pacedSeconds: 15,
    remediations: 50,
    memory: { from: 100_000, to: 1_000_000 },
  },
};
