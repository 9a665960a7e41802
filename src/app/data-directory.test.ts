import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../time/index.ts";
import { makeDataDirectory } from "./data-directory.ts";

const clock = systemClock();

describe("a data directory", () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "interlock-data-"));
  });
  afterEach(() => rm(root, { recursive: true }));

  it("is created with its parents, for its owner only", async () => {
    const directory = join(root, "a", "b");

    await makeDataDirectory(directory, clock);

    expect((await stat(directory)).mode & 0o777).toBe(0o700);
  });

  it("may exist already, and no temporary file stays in it", async () => {
    await makeDataDirectory(root, clock);

    await expect(stat(join(root, ".probe"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("records its format, and is rejected by a version that supports only an older format", async () => {
    const migrations = [async () => {}];
    await makeDataDirectory(root, clock, { name: "interlock-data", migrations });

    await expect(makeDataDirectory(root, clock)).rejects.toThrow(
      `${root} is in format 2 of interlock-data, written by a newer version of Interlock`,
    );
  });

  it("can be created by two processes at once", async () => {
    const directory = join(root, "a", "b");

    await Promise.all([makeDataDirectory(directory, clock), makeDataDirectory(directory, clock)]);

    expect((await stat(directory)).isDirectory()).toBe(true);
  });

  it.runIf(process.platform === "linux").each([
    ["below /proc", "/proc/interlock/data", "(ENOENT): no directory can be made there"],
    ["in a part of /proc that exists", "/proc/self", "no directory can be made there"],
  ])("%s fails at once, with the reason and what to do", async (_where, directory, reason) => {
    const made = makeDataDirectory(directory, clock);

    await expect(made).rejects.toThrow(reason);
    await expect(made).rejects.toThrow("name a writable directory with --data");
  });

  it("below a file fails at once, with the reason", async () => {
    await writeFile(join(root, "file"), "");

    await expect(makeDataDirectory(join(root, "file", "data"), clock)).rejects.toThrow(
      "(ENOTDIR): a part of the path is a file",
    );
  });
});
