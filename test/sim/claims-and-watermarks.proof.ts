import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll, faultsOfServers } from "./faults.ts";

const faults = [...faultsOfAll, "request duplicated", "store silent"];

describe("claims in Redis", () => {
  holdsInSimulation({ protocol: "redis-claims", from: 1, seeds: 4_000 }, faults);
  mutantsAreCaught("redis-claims");
});

describe("claims as Kubernetes Leases", () => {
  holdsInSimulation({ protocol: "kubernetes-claims", from: 1, seeds: 4_000 }, [...faultsOfAll, ...faultsOfServers]);
  mutantsAreCaught("kubernetes-claims");
});

describe("watermarks in a store of one step", () => {
  holdsInSimulation({ protocol: "watermarks", from: 1, seeds: 4_000 }, faults);
  mutantsAreCaught("watermarks");
});

describe("watermarks as ConfigMaps", () => {
  holdsInSimulation({ protocol: "kubernetes-watermarks", from: 1, seeds: 4_000 }, [...faultsOfAll, ...faultsOfServers]);
});
