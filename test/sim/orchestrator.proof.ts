import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll } from "./faults.ts";

const faults = [
  ...faultsOfAll,
  "request duplicated",
  "stale watch",
  "signal resolved",
  "failure acknowledged",
  "execution cancelled",
  "incident cancelled",
];

describe("orchestrators and executors", () => {
  holdsInSimulation({ protocol: "orchestrator", from: 1, seeds: 70 }, faults);
  // A create that comes late brings back an execution that was deleted, and whose successor is at work.
  holdsInSimulation({ protocol: "orchestrator", from: 156, seeds: 1 }, []);
  mutantsAreCaught("orchestrator", 40);
});

describe("a hundred orchestrators", () => {
  holdsInSimulation({ protocol: "orchestrator-100", from: 1, seeds: 1 }, []);
});
