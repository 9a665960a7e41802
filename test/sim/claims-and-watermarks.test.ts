import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";

const faults = [
  "clock skew and drift",
  "delayed message",
  "request lost",
  "reply lost",
  "request duplicated",
  "store silent",
  "pause",
  "crash",
];
const serverFaults = ["watches dropped", "history compacted", "store restart, data kept"];

describe("claims in Redis", () => {
  holdsInSimulation({ protocol: "redis-claims", from: 1, seeds: 10_000 }, faults);
  mutantsAreCaught("redis-claims");
});

describe("claims as Kubernetes Leases", () => {
  holdsInSimulation({ protocol: "kubernetes-claims", from: 1, seeds: 10_000 }, [...faults, ...serverFaults]);
  mutantsAreCaught("kubernetes-claims");
});

describe("watermarks in a store of one step", () => {
  holdsInSimulation({ protocol: "watermarks", from: 1, seeds: 10_000 }, faults);
  mutantsAreCaught("watermarks");
});

describe("watermarks as ConfigMaps", () => {
  holdsInSimulation({ protocol: "kubernetes-watermarks", from: 1, seeds: 10_000 }, [...faults, ...serverFaults]);
});
