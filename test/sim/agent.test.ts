import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";

const faults = [
  "clock skew and drift",
  "delayed message",
  "request lost",
  "reply lost",
  "stale watch",
  "pause",
  "crash",
];

describe("coding agents", () => {
  holdsInSimulation({ protocol: "agent", from: 1, seeds: 25 }, faults);
  mutantsAreCaught("agent", 40);
});
