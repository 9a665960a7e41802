import { expect, it } from "vitest";
import { informer } from "../../src/kube/runtime/informer.ts";
import { simulateInformer } from "./informer-sim.ts";

/** A sample; `npm run proof` runs 2,000 seeds, and mutants that they catch. */
const seeds = 100;

it(`an informer behind a bad network reports only changes that happened and ends equal to the store, in ${seeds} seeds`, async () => {
  const violations: string[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = await simulateInformer(seed, informer);
    if (violation) violations.push(`seed ${seed}: ${violation}`);
  }

  expect(violations).toEqual([]);
});
