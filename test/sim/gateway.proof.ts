import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll, faultsOfServers } from "./faults.ts";

const faults = [
  ...faultsOfAll,
  ...faultsOfServers,
  "stale watch",
  "ledger overloaded",
  "disk error",
  "power cut",
  "signal sent again",
  "old signal sent late",
  "incident closed",
  "old incident removed",
];

describe("gateways", () => {
  holdsInSimulation({ protocol: "gateway", from: 1, seeds: 200 }, faults);
  mutantsAreCaught("gateway", 200);
});

describe("a hundred gateways", () => {
  holdsInSimulation({ protocol: "gateway-100", from: 1, seeds: 3 }, []);
});
