import { access, appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../time/index.ts";
import { directoryOpener, openDirectory, viewDirectory } from "../directory-disk.ts";
import type { DirectoryFormat } from "./format.ts";
import { lockParts } from "./lock-parts.ts";
import { type UpgradeOptions, upgradeDirectory } from "./upgrade-directory.ts";
import { type UpgradeFiles, upgradeFiles } from "./upgrade-files.ts";

const first: DirectoryFormat = { name: "interlock-test", migrations: [] };
/** Adds a line to each file, and gives a part another name. */
const second: DirectoryFormat = { name: "interlock-test", migrations: [addLine] };
const third: DirectoryFormat = { name: "interlock-test", migrations: [addLine, addLine] };

const wallMs = Date.parse("2026-11-16T14:44:10.123Z");
const kept = "kept-format-1-20261116T144410Z";
const old = { "a.log": "a\n", "part/b.log": "b\n" };
const migrated = { "a.log": "a\nmigrated\n", "part/b.log": "b\nmigrated\n" };

describe("the format of a directory", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "interlock-format-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("is recorded in a new directory", async () => {
    await upgrade(second);

    expect(await readFile(join(directory, "format"), "utf8")).toBe('{"format":"interlock-test/2"}\n');
  });

  it("is version 1 in a directory from before formats were recorded", async () => {
    await fill(old);

    await upgrade(first);

    expect(await readFile(join(directory, "format"), "utf8")).toBe('{"format":"interlock-test/1"}\n');
    expect(await data(directory)).toEqual(old);
  });

  it("is migrated step by step, and the files from before are kept, named by version and time", async () => {
    await fill(old);
    await upgrade(first);

    const done: unknown[] = [];
    await upgrade(third, { upgraded: (one) => done.push(one) });

    expect(await data(directory)).toEqual({
      "a.log": "a\nmigrated\nmigrated\n",
      "part/b.log": "b\nmigrated\nmigrated\n",
    });
    expect(await data(join(directory, kept))).toEqual(old);
    expect(done).toEqual([{ directory, format: "interlock-test", version: 3, kept: join(directory, kept) }]);
    expect((await readdir(directory)).sort()).toEqual(["a.log", "format", kept, "part"]);
  });

  it("of a newer version is refused, and the error names the copy that this version can read", async () => {
    await fill(old);
    await upgrade(second);

    const refused = upgrade(first);

    await expect(refused).rejects.toMatchObject({ code: "unsupported" });
    await expect(refused).rejects.toThrow(
      `${directory} is in format 2 of interlock-test, written by a newer version of Interlock; this version reads formats ` +
        `up to 1: start that version again, or use another directory; the data from before the upgrade is in ${directory}/${kept}`,
    );
    expect(await data(directory)).toEqual(migrated);
  });

  it("of a kept copy is the one it was written in, so that an older version can be started on it", async () => {
    await fill(old);
    await upgrade(second);

    await upgradeDirectory(join(directory, kept), first, { wallMs });

    expect(await data(join(directory, kept))).toEqual(old);
  });

  it.each([
    ["text", "not a format"],
    ["another kind of directory", '{"format":"interlock-other/1"}'],
    ["a version that is no number", '{"format":"interlock-test/two"}'],
  ])("that cannot be read (%s) is refused as damaged", async (_what, text) => {
    await writeFile(join(directory, "format"), text);

    await expect(upgrade(first)).rejects.toMatchObject({ code: "damaged" });
  });

  it("need not be recorded on a full disk, if it is the first", async () => {
    await fill(old);
    const files: UpgradeFiles = { ...upgradeFiles, write: () => Promise.reject(noSpace()) };

    await upgrade(first, { files });

    expect(await data(directory)).toEqual(old);
  });

  it("is checked when the directory is opened or read", async () => {
    const disk = await directoryOpener(second)(directory, systemClock());
    await disk.close();

    await expect(directoryOpener(first)(directory, systemClock())).rejects.toMatchObject({ code: "unsupported" });
    await expect(viewDirectory(directory, first).names()).rejects.toMatchObject({ code: "unsupported" });
    // The refusal unlocked it.
    await (await openDirectory(directory, systemClock())).close();
  });

  it("that is older is not migrated by a reader", async () => {
    await fill(old);

    await expect(viewDirectory(directory, second).names()).rejects.toThrow("start the process that owns it");
    expect(await data(directory)).toEqual(old);
  });

  it("is not migrated while another process uses a part of the directory", async () => {
    await fill(old);
    const part = await openDirectory(join(directory, "part"), systemClock());

    await expect(upgrade(second, { lock: () => lockParts(directory) })).rejects.toMatchObject({ code: "in-use" });
    await part.close();
    await rm(join(directory, "part", "owner"));
    expect(await data(directory)).toEqual(old);

    await upgrade(second, { lock: () => lockParts(directory) });
    expect(await data(directory)).toEqual(migrated);
  });

  describe.each(["crash before", "crash after", "disk full"] as const)(
    "with a %s any step of its migration",
    (fault) => {
      it("keeps the old data usable, and the next start completes the migration", { timeout: 120_000 }, async () => {
        let steps = 0;
        for (; ; steps++) {
          await rm(directory, { recursive: true });
          await mkdir(directory);
          await fill(old);
          await upgrade(first);
          const faulty = failingAt(steps, fault);
          const format = { name: second.name, migrations: [(copy: string) => addLine(copy, faulty.step)] };

          const ended = await upgrade(format, { files: faulty.files }).then(
            () => "completed",
            () => "failed",
          );
          if (ended === "completed") {
            expect(faulty.hasFailed(), `step ${steps}`).toBe(false);
            break;
          }

          // Either the version before can go on with it, or everything it had is here or in the copy.
          const isUntouched = (await readFile(join(directory, "format"), "utf8")).includes("/1");
          if (isUntouched) {
            await upgrade(first);
            expect(await data(directory), `step ${steps}`).toEqual(old);
          } else {
            await expect(upgrade(first), `step ${steps}`).rejects.toMatchObject({ code: "unsupported" });
          }
          await upgrade(second);
          expect(await data(directory), `step ${steps}`).toEqual(migrated);
          expect(await data(join(directory, kept)), `step ${steps}`).toEqual(old);
          expect(await missing(join(directory, "upgrade-to-format-2")), `step ${steps}`).toBe(true);
        }
        expect(steps).toBeGreaterThan(25);
      });
    },
  );

  function upgrade(format: DirectoryFormat, options: Partial<UpgradeOptions> = {}): Promise<void> {
    return upgradeDirectory(directory, format, { wallMs, ...options });
  }

  async function fill(files: Readonly<Record<string, string>>): Promise<void> {
    await mkdir(join(directory, "part"));
    for (const [path, text] of Object.entries(files)) await writeFile(join(directory, path), text);
  }
});

async function addLine(directory: string, step: () => Promise<void> = async () => {}): Promise<void> {
  for (const path of Object.keys(old)) {
    await step();
    await appendFile(join(directory, path), "migrated\n");
  }
}

/** Files of a directory by path, without what belongs to upgrades. */
async function data(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(directory.length + 1);
    if (entry.isFile() && !/^(format|owner|kept-|upgrade-)/.test(path)) {
      found[path] = await readFile(join(directory, path), "utf8");
    }
  }
  return found;
}

function missing(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    () => true,
  );
}

/** Operations of which the n-th fails. After a crash nothing more is done; a full disk takes half of the file. */
function failingAt(n: number, fault: "crash before" | "crash after" | "disk full") {
  let done = 0;
  let failed = false;
  async function step(half?: () => Promise<unknown>, whole?: () => Promise<unknown>): Promise<void> {
    if (failed && fault !== "disk full") throw new Error("the process is gone");
    if (done++ !== n || failed) return;
    failed = true;
    await (fault === "disk full" ? half?.() : fault === "crash after" ? whole?.() : undefined);
    throw fault === "disk full" ? noSpace() : new Error("the process is gone");
  }
  const change =
    <A extends readonly string[]>(operation: (...args: A) => Promise<void>, half?: (...args: A) => Promise<unknown>) =>
    async (...args: A) => {
      await step(
        () => half?.(...args) ?? Promise.resolve(),
        () => operation(...args),
      );
      await operation(...args);
    };
  const files: UpgradeFiles = {
    list: upgradeFiles.list,
    read: upgradeFiles.read,
    write: change(upgradeFiles.write),
    makeDirectory: change(upgradeFiles.makeDirectory),
    copyFile: change(upgradeFiles.copyFile, (_from, to) => writeFile(to, "h")),
    move: change(upgradeFiles.move),
    remove: change(upgradeFiles.remove),
    sync: change(upgradeFiles.sync),
  };
  return { files, step: () => step(), hasFailed: () => failed };
}

function noSpace(): NodeJS.ErrnoException {
  return Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
}
