import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  firstPaintMs10k: { atMost: 1_000 },
  gzipKb: { atMost: 170 },
  changeToPixelP95Ms: { atMost: 500 },
  actionP95Ms: { atMost: 300 },
  viewers100RssMb: { atMost: 60 },
  idleTabCpuPercent: { atMost: 2 },
  gatewayThroughputWith100Viewers: { atLeast: 0.9 },
};
