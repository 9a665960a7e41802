import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  getVsKubectl: { atMost: 2 },
  whyVsKubectlGet: { atMost: 3 },
  helpVsBareNode: { atMost: 2 },
  upReadyMs: { atMost: 1_500 },
  logsFollowLagMs: { atMost: 250 },
  tarballMb: { atMost: 8 },
};
