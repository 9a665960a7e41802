import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll, faultsOfServers } from "./faults.ts";

const faults = [
  ...faultsOfAll,
  ...faultsOfServers,
  "stale watch",
  "ledger overloaded",
  "invalid execution",
  "execution deleted",
  "execution removed by force",
  "failure acknowledged",
  "execution cancelled",
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
