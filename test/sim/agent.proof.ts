import { describe } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll } from "./faults.ts";

const faults = [...faultsOfAll, "stale watch"];

describe("agents", () => {
  holdsInSimulation({ protocol: "agent", from: 1, seeds: 25 }, faults);
  mutantsAreCaught("agent", 40);
});
