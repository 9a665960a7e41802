import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  singleVsBareFastify: { atLeast: 0.25 },
  batch50VsBareFastify: { atLeast: 0.5 },
  batchSignalsPerSecond: { atLeast: 40_000 },
  p99MsAt1000: { atMost: 50 },
  rssGrowthMb: { atMost: 30 },
  signalToRunMs: { atMost: 50 },
  flapGrowth: { atMost: 1.3 },
  seriesGrowth: { atMost: 1.3 },
};
