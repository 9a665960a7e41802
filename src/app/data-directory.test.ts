import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeDataDirectory } from "./data-directory.ts";

describe("a data directory", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "interlock-data-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  it("is created with its parents, for its owner only", async () => {
    const directory = join(root, "a", "b");

    await makeDataDirectory(directory);

    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  it("may exist already, and no temporary file stays in it", async () => {
    await makeDataDirectory(root);

    await expect(stat(join(root, ".probe"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is rejected if a newer version has written it", async () => {
    await writeFile(join(root, "format"), '{"format":"interlock-data/2"}\n');

    await expect(makeDataDirectory(root)).rejects.toThrow(
      `${root} is in format 2 of interlock-data, written by a newer version of Interlock`,
    );
  });

  it("can be created by two processes at once", async () => {
    const directory = join(root, "a", "b");

    await Promise.all([makeDataDirectory(directory), makeDataDirectory(directory)]);

    expect((await stat(directory)).isDirectory()).toBe(true);
  });

  it.runIf(process.platform === "linux").each([
    ["below /proc", "/proc/interlock/data", "(ENOENT): no directory can be made there"],
    ["in a part of /proc that exists", "/proc/self", "no directory can be made there"],
  ])("%s fails at once, with the reason and what to do", async (_where, directory, reason) => {
    const made = makeDataDirectory(directory);

    await expect(made).rejects.toThrow(reason);
    await expect(made).rejects.toThrow("name a writable directory with --data");
  });

  it("below a file fails at once, with the reason", async () => {
    await writeFile(join(root, "file"), "");

    await expect(makeDataDirectory(join(root, "file", "data"))).rejects.toThrow(
      "(ENOTDIR): a part of the path is a file",
    );
  });
});
