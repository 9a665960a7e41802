import { expect, it } from "vitest";
import { presentInterpreters } from "./interpreter-campaign.ts";
import { runCampaign } from "./run-interpreter-campaign.ts";

it("no label value creates a file, in any accepted spelling of any interpreter on this machine", {
  timeout: 600_000,
}, async () => {
  const report = await runCampaign({ batches: 60, seed: 20261116 });

  expect(report.failure).toBeUndefined();
  // Otherwise nothing was accepted, and nothing was executed.
  expect(report.executed).toBeGreaterThan(50);
  expect(report.programs.length).toBeGreaterThan(presentInterpreters.length / 3);
});
