import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll, faultsOfServers } from "./faults.ts";

const faults = [...faultsOfAll, ...faultsOfServers, "lock deleted by a third party", "idle lease removed"];

describe("locks as Kubernetes Leases", () => {
  holdsInSimulation({ protocol: "kubernetes-locks", from: 1, seeds: 3_000 }, faults);
  mutantsAreCaught("kubernetes-locks");
});

describe("the order of locks as Kubernetes Leases", () => {
  holdsInSimulation({ protocol: "kubernetes-order", from: 1, seeds: 500 }, []);
  mutantsAreCaught("kubernetes-order");
});
