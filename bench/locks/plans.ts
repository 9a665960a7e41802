import type { HandOffPlan } from "./handoff.ts";
import type { MemoryPlan } from "./memory.ts";
import type { SaturationPlan } from "./saturation.ts";
import type { UncontendedPlan } from "./uncontended.ts";

/** How long to look at each thing. */
export interface Plan {
  readonly memory: MemoryPlan;
  readonly calibrationSamples: number;
  readonly uncontended: UncontendedPlan;
  readonly handOff1: HandOffPlan;
  readonly handOff7: HandOffPlan;
  readonly waiting: { readonly oursMs: number; readonly peersMs: number };
  readonly saturation: SaturationPlan;
}

/** `quick` ends within 50 s on two cores, `full` within 4 min. */
export const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: {
    memory: { rounds: 3, pairs: 80_000, asyncMutexQueue: 10_000 },
    calibrationSamples: 30,
    uncontended: { rounds: 6, ms1: 40, ms64: 80 },
    handOff1: { rounds: 2, maxPerRound: 20, msPerRound: 500 },
    handOff7: { rounds: 2, maxPerRound: 20, msPerRound: 500 },
    waiting: { oursMs: 20_000, peersMs: 300 },
    saturation: { rounds: 1, msPerRound: 600 },
  },
  full: {
    memory: { rounds: 5, pairs: 100_000, asyncMutexQueue: 100_000 },
    calibrationSamples: 100,
    uncontended: { rounds: 20, ms1: 80, ms64: 150 },
    handOff1: { rounds: 4, maxPerRound: 80, msPerRound: 2_000 },
    handOff7: { rounds: 4, maxPerRound: 80, msPerRound: 2_000 },
    waiting: { oursMs: 40_000, peersMs: 1_500 },
    saturation: { rounds: 3, msPerRound: 1_500 },
  },
};
