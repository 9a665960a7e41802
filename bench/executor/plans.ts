/** How much to look at. */
export interface Plan {
  readonly warmUp: number;
  readonly oneByOne: number;
  readonly rounds: number;
  readonly perTarget: number;
  readonly skips: number;
}

/** Figures of the result, and what bare steps of the same kind take on this machine, in this run. */
export interface Measured {
  readonly figures: Readonly<Record<string, number>>;
  readonly calibration: Readonly<Record<string, number>>;
}

/** `quick` ends within 50 s on two cores. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: { warmUp: 50, oneByOne: 200, rounds: 3, perTarget: 8, skips: 200 },
  full: { warmUp: 100, oneByOne: 1_000, rounds: 7, perTarget: 20, skips: 1_000 },
};
