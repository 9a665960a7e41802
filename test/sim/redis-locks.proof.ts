import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll } from "./faults.ts";

const faults = [
  ...faultsOfAll,
  "push lost",
  "push duplicated",
  "connection cut",
  "black hole",
  "store restart, data lost",
  "store restart, data kept",
  "lock deleted by a third party",
];

describe("locks in Redis", () => {
  holdsInSimulation({ protocol: "redis-locks", from: 1, seeds: 4_000 }, faults);
  mutantsAreCaught("redis-locks");
});

describe("the order of locks in Redis", () => {
  holdsInSimulation({ protocol: "redis-order", from: 1, seeds: 1_000 }, []);
  mutantsAreCaught("redis-order");
});

describe("locks in one process", () => {
  holdsInSimulation({ protocol: "memory-locks", from: 1, seeds: 4_000 }, ["pause", "work hangs", "caller gives up"]);
  mutantsAreCaught("memory-locks");
});
