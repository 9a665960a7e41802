import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Backend } from "./locks-under-test.ts";
import { mix } from "./mix.ts";
import { perform, reportOf, type Scenario } from "./perform.ts";
import { scenariosOn } from "./scenarios.ts";
import { openTheatre, type Theatre } from "./theatre.ts";

/** A test for every scenario on `backend`, and one for a mix of `mixSeconds` if there is to be one. */
export function keepTheirPromises(backend: Backend, mixSeconds: number): void {
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

  const mixes =
    mixSeconds > 0 ? [{ ...mix(backend, seed, mixSeconds), name: "faults of all kinds come together" }] : [];
  const named = [...mixes, ...scenariosOn(backend)].map((scenario) => [scenario.name, scenario] as const);
  it.for(named)("%s", async ([, scenario]) => {
    const performance = await played(scenario);

    expect(reportOf(performance)).toBe("");
    expect(performance.figures.grants).toBeGreaterThan(0);
  });
}
