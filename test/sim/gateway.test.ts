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
  "disk error",
  "power cut",
  "pause",
  "crash",
  "signal sent again",
  "old signal told late",
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
