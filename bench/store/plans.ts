import type { CreatePlan } from "./creates.ts";

/** How long to look at each thing. */
export interface Plan {
  readonly creates: CreatePlan;
  readonly gets: { readonly rounds: number; readonly reads: number };
  readonly starts: number;
  readonly index: { readonly rounds: number; readonly lists: number };
  /** Creates per round over HTTP, and events per round to many watchers. */
  readonly http: {
    readonly rounds: number;
    readonly oneByOne: number;
    readonly in64: number;
    readonly events: number;
    readonly fanoutRounds: number;
  };
}

/** `quick` ends within 50 s on two cores. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: {
    creates: { rounds: 9, oneByOne: 400, in64: 3_200 },
    gets: { rounds: 5, reads: 500_000 },
    starts: 1,
    index: { rounds: 9, lists: 20_000 },
    http: { rounds: 3, oneByOne: 400, in64: 3_200, events: 200, fanoutRounds: 9 },
  },
  full: {
    creates: { rounds: 15, oneByOne: 1_000, in64: 6_400 },
    gets: { rounds: 9, reads: 1_000_000 },
    starts: 3,
    index: { rounds: 25, lists: 50_000 },
    http: { rounds: 7, oneByOne: 1_000, in64: 6_400, events: 400, fanoutRounds: 15 },
  },
};
