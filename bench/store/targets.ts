import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  create64PerSecond: { atLeast: 6_000 },
  create1PerSecond: { atLeast: 1_500 },
  httpCreate64PerSecond: { atLeast: 2_500 },
  httpCreateP50Ms: { atMost: 1.25 },
  fanout100VsBareHttp: { atMost: 3 },
  getPerSecond: { atLeast: 500_000 },
  indexListGrowth: { atMost: 1.5 },
  leaseCycleWrites: { atMost: 2 },
  startSeconds100k: { atMost: 4 },
  rssMb100k: { atMost: 600 },
};
