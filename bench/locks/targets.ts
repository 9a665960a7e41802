import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. Ratios are better the larger they are, except where `atMost` is set. */
export const targets: Targets = {
  uncontended1VsRaw: { atLeast: 0.8 },
  uncontended1VsBestPeer: { atLeast: 0.8 },
  uncontended64VsRaw: { atLeast: 1.3 },
  uncontended64VsBestPeer: { atLeast: 1.1 },
  cpuPerPair64VsRaw: { atLeast: 1.5 },
  handoff1VsBestPeer: { atLeast: 5 },
  handoff7VsBestPeer: { atLeast: 1.5 },
  handoff7Vs5msPollers: { atLeast: 0.7 },
  handoff7CommandsVs5msPollers: { atLeast: 10 },
  handoff7RequestsVs5msPollers: { atLeast: 10 },
  overtakeShare: { atMost: 0.05 },
  waiting50CommandsPerSecond: { atMost: 2 },
  saturationVsBestPeer: { atLeast: 4 },
  fairLongestWaitVsMedian: { atMost: 10 },
  memoryVsAsyncMutex: { atLeast: 3 },
  memory100kQueuedMicros: { atMost: 5 },
  claimBytesRedis: { atMost: 240 },
};
