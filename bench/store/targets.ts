import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  create64PerSecond: { atLeast: 6_000 },
  create1PerSecond: { atLeast: 1_500 },
  getPerSecond: { atLeast: 500_000 },
  startSeconds100k: { atMost: 4 },
  rssMb100k: { atMost: 600 },
};
