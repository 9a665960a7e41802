import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../time/index.ts";
import { directoryOpener, openDirectory, viewDirectory } from "./directory-disk.ts";
import { recordFormat } from "./format.ts";

const name = "interlock-test";

describe("the format of a directory", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "interlock-format-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("is recorded once, also beside files from before formats were recorded", async () => {
    await writeFile(join(directory, "a.log"), "a\n");

    for (let start = 1; start <= 2; start++) await recordFormat(directory, name);

    expect(await readFile(join(directory, "format"), "utf8")).toBe('{"format":"interlock-test/1"}\n');
    expect((await readdir(directory)).sort()).toEqual(["a.log", "format"]);
  });

  it("of a newer version is refused when the directory is opened or read, and nothing is changed", async () => {
    const newer = '{"format":"interlock-test/2","replacing":{"step":"out"}}\n';
    await writeFile(join(directory, "format"), newer);

    const refused = directoryOpener(name)(directory, systemClock());

    await expect(refused).rejects.toMatchObject({
      code: "unsupported",
      message:
        `${directory} is in format 2 of interlock-test, written by a newer version of Interlock; this version reads format 1: ` +
        "start that version again, or use another directory",
    });
    await expect(viewDirectory(directory, name).names()).rejects.toMatchObject({ code: "unsupported" });
    expect(await readFile(join(directory, "format"), "utf8")).toBe(newer);
    // The refusal unlocked it.
    await (await openDirectory(directory, systemClock())).close();
  });

  it.each([
    ["text", "not a format"],
    ["another kind of directory", '{"format":"interlock-other/1"}'],
    ["a version that is no number", '{"format":"interlock-test/two"}'],
  ])("that cannot be read (%s) is refused as damaged", async (_what, text) => {
    await writeFile(join(directory, "format"), text);

    await expect(recordFormat(directory, name)).rejects.toMatchObject({ code: "damaged" });
  });
});
