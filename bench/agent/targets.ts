import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  webhookP99Ms: { atMost: 50 },
  pollRequestsPerProject: { atMost: 2.2 },
  eventToAgentMs: { atMost: 200 },
};
