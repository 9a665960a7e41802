import { count, duration } from "../kinds.ts";
import { setting } from "../setting.ts";

export const claims = {
  leaseMs: setting({
    kind: duration({ atLeast: "500ms" }),
    default: "1m",
    about: "How long claimed work may take without a renewal before another replica may claim it.",
  }),
  doneTtlMs: setting({
    kind: duration({ atLeast: "1s" }),
    default: "1h",
    about: "How long finished work is remembered, and so not done again.",
  }),
  reviewDoneTtlMs: setting({
    kind: duration({ atLeast: "1s" }),
    default: "24h",
    about:
      "The same for coding tasks and webhooks, which sources report again for longer. Finished tasks are kept so long.",
  }),
  memoryEntries: setting({
    kind: count(),
    default: "10000",
    about: "How many claims are remembered when they live in memory.",
  }),
};
