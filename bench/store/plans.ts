import type { CreatePlan } from "./creates.ts";

/** How long to look at each thing. */
export interface Plan {
  readonly creates: CreatePlan;
  readonly gets: { readonly rounds: number; readonly reads: number };
  readonly starts: number;
}

/** `quick` ends within 20 s on two cores. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: {
    creates: { rounds: 9, oneByOne: 400, in64: 3_200 },
    gets: { rounds: 5, reads: 500_000 },
    starts: 1,
  },
  full: {
    creates: { rounds: 15, oneByOne: 1_000, in64: 6_400 },
    gets: { rounds: 9, reads: 1_000_000 },
    starts: 3,
  },
};
