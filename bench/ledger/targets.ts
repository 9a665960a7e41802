import type { Targets } from "../verdicts.ts";

/** What each figure of the result line should be. */
export const targets: Targets = {
  journalEventsPerSecond: { atLeast: 20_000 },
  drainToPostgresPerSecond: { atLeast: 5_000 },
  query100kMs: { atMost: 50 },
};
