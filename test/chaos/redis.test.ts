import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mix } from "./mix.ts";
import { perform, reportOf, type Scenario } from "./perform.ts";
import { scenarios } from "./scenarios.ts";
import { openTheatre, type Theatre } from "./theatre.ts";

// The long version is `npm run chaos`. Scenarios are mostly waiting, so several run side by side.
describe.concurrent("locks of several processes on a real Redis keep their promises when", { timeout: 120_000 }, () => {
  let theatre: Theatre;
  let failed = false;
  const seed = Math.floor(Math.random() * 2 ** 31);

  beforeAll(async () => {
    theatre = await openTheatre();
  });
  afterAll(() => {
    if (!failed) rmSync(theatre.dir, { recursive: true });
  });

  async function played(scenario: Scenario) {
    const performance = await perform(scenario, seed, theatre);
    failed ||= performance.violations.length > 0;
    return performance;
  }

  it("faults of all kinds come together", async () => {
    const performance = await played(mix(seed, 15));

    expect(reportOf(performance)).toBe("");
    expect(performance.figures.grants).toBeGreaterThan(0);
  });

  it.for(scenarios.map((scenario) => [scenario.name, scenario] as const))("%s", async ([, scenario]) => {
    const performance = await played(scenario);

    expect(reportOf(performance)).toBe("");
    expect(performance.figures.grants).toBeGreaterThan(0);
  });
});
