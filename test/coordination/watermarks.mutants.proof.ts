import { beforeAll, describe, expect, it } from "vitest";
import { memoryWatermarks } from "../../src/coordination/memory/memory-watermarks.ts";
import { watermarksCases } from "../../src/coordination/watermarks/watermarks.contract.ts";
import { openWatermark } from "../../src/coordination/watermarks/watermarks.ts";
import { logicMutants, storeMutants, type WatermarkMutant } from "./watermark-mutants.ts";

// Pages show only with a source that has some: `no-item-lost.test.ts` finds this one.
const { "moves on although there are more pages": _pages, ...found } = logicMutants;
const mutants: Readonly<Record<string, WatermarkMutant>> = { ...storeMutants, ...found };

const failures = new Map<string, Set<string>>();

beforeAll(async () => {
  for (const [name, mutant] of Object.entries(mutants)) failures.set(name, await failuresOf(mutant));
});

describe("the contract of watermarks", () => {
  it("is kept by the memory store", async () => {
    expect(await failuresOf({})).toEqual(new Set());
  });

  it.each(Object.keys(mutants))("finds one that %s", (name) => {
    expect(failures.get(name)).not.toEqual(new Set());
  });

  it.each(watermarksCases.map(({ name }) => name))("has a case that can fail: a watermark %s", (name) => {
    const failed = [...failures].filter(([, cases]) => cases.has(name)).map(([mutant]) => mutant);
    expect(failed).not.toEqual([]);
  });
});

/** The names of the cases that `mutant` fails. */
async function failuresOf({ store = memoryWatermarks, apart = false, open = openWatermark }: WatermarkMutant) {
  const failed = new Set<string>();
  for (const { name, run } of watermarksCases) {
    const shared = store();
    const connect = async () => (apart ? store() : shared);
    await run({ connect, open }).catch(() => failed.add(name));
  }
  return failed;
}
