import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { removeFolder } from "../../git/own-folder.ts";
import { clearAbandoned, createScratch } from "./scratch.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "scratch-test-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("the folder of a run", () => {
  it("exists until the run is over, although other processes start and clear abandoned folders", async () => {
    for (let round = 0; round < 20; round++) {
      let isMade = false;
      const making = createScratch(directory, "{}", undefined).finally(() => {
        isMade = true;
      });
      while (!isMade) await clearAbandoned(directory, removeFolder);
      await using scratch = await making;
      await clearAbandoned(directory, removeFolder);

      expect(existsSync(join(scratch.folder, "lock"))).toBe(true);
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  it("is cleared after its process has died", async () => {
    await using scratch = await createScratch(directory, "{}", undefined);
    const left = join(directory, "run-left");
    mkdirSync(left);
    writeFileSync(join(left, "owner"), "");

    await clearAbandoned(directory, removeFolder);

    expect(readdirSync(directory)).toEqual([basename(scratch.folder)]);
  });
});
