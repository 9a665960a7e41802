import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";

const faults = [
  "delayed message",
  "request lost",
  "reply lost",
  "request duplicated",
  "stale watch",
  "watches dropped",
  "history compacted",
  "store silent",
  "store restart, data kept",
  "pause",
  "crash",
  "incident closed",
];

describe("the gateway", () => {
  holdsInSimulation({ protocol: "gateway", from: 1, seeds: 300 }, faults);
  mutantsAreCaught("gateway", 300);
});
