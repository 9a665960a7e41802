import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";

const faults = [
  "clock skew and drift",
  "delayed message",
  "request lost",
  "reply lost",
  "request duplicated",
  "stale watch",
  "watches dropped",
  "history compacted",
  "store silent",
  "store restart, data kept",
  "ledger overloaded",
  "pause",
  "crash",
  "invalid execution",
  "execution deleted",
  "execution removed by force",
  "failure acknowledged",
  "automation paused",
  "catalog changed",
  "record deleted by a third party",
  "finished run pruned by a third party",
  "active run deleted by a third party",
];

describe("the executor", () => {
  holdsInSimulation({ protocol: "executor", from: 1, seeds: 300 }, faults);
  mutantsAreCaught("executor", 300);
});
