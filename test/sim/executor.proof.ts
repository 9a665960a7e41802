import { describe, expect, it } from "vitest";
import { holdsInSimulation, mutantsAreCaught } from "./campaign.ts";
import { faultsOfAll, faultsOfServers } from "./faults.ts";
import { simulate } from "./simulate.ts";

const faults = [
  ...faultsOfAll,
  ...faultsOfServers,
  "stale watch",
  "ledger overloaded",
  "engine clock wrong",
  "invalid execution",
  "execution deleted",
  "execution removed by force",
  "failure acknowledged",
  "execution cancelled",
  "automation paused",
  "catalog changed",
  "record deleted by a third party",
  "finished run pruned by a third party",
  "active run deleted by a third party",
];

describe("the executor", () => {
  holdsInSimulation({ protocol: "executor", from: 1, seeds: 420 }, faults);
  mutantsAreCaught("executor", 300);

  it("that reuses an approval breaks invariant E15", { timeout: 120_000 }, async () => {
    const campaign = { protocol: "executor", from: 1, seeds: 300, mutant: "reuses-an-approval", untilFirst: true };

    const { violations } = await simulate(campaign);

    expect(violations).toEqual([expect.stringContaining("E15 approval")]);
  });
});
