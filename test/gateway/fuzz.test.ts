import { expect, it } from "vitest";
import { fuzz } from "./fuzz.ts";

it("a gateway responds to 1,000 invalid payloads with a reason, never with 5xx", { timeout: 180_000 }, async () => {
  const { bad, statuses, heapGrowthMb } = await fuzz(250, 20261115);

  expect(bad).toEqual([]);
  // Otherwise everything was turned away at the door, and nothing was looked at.
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(["200", "201", "202", "400", "422"]));
  expect(heapGrowthMb).toBeLessThan(60);
});
