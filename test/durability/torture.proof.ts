import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { torture } from "./torture.ts";

// The long form is `npm run durability`.
it("a store loses nothing that it acknowledged when its process is killed at full speed", {
  timeout: 120_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-torture-"));
  const space = { compactedFromBytes: 64 * 1024, compactedFromRatio: 0.1, reservedBytes: 64 * 1024 };

  const figures = await torture({ directory, rounds: 20, objects: 500, seed: 1, space });

  console.log(JSON.stringify(figures));
  expect(figures.violations).toEqual([]);
  expect(figures.acknowledged).toBeGreaterThan(1_000);
  rmSync(directory, { recursive: true });
});
