import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  pendingToRunMs: { atMost: 10 },
  finishedToTerminalMs: { atMost: 20 },
  executionsPerSecond: { atLeast: 300 },
  decideReads: { atMost: 1 },
  decideGrowth: { atMost: 1.5 },
};
