import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDurably, writeDurably } from "./write-durably.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-write-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe("writeDurably", () => {
  it("replaces a symbolic link, and not the file that it leads to", async () => {
    const victim = join(directory, "victim");
    writeFileSync(victim, "untouched");
    symlinkSync(victim, join(directory, "token"));

    await writeDurably(join(directory, "token"), "s3cret");

    expect(readFileSync(victim, "utf8")).toBe("untouched");
    expect(readFileSync(join(directory, "token"), "utf8")).toBe("s3cret");
    expect(statSync(join(directory, "token")).mode & 0o777).toBe(0o600);
  });

  it("removes the temporary files of writers that died, and those of no other file and no living writer", async () => {
    const [abandoned, others] = [
      ["state.new", "state.new-2", "state.new-aZ_0-9"],
      ["state.newer", "other.new", "state"],
    ];
    for (const name of [...abandoned, ...others]) {
      writeFileSync(join(directory, name), "half");
      utimesSync(join(directory, name), new Date(), new Date(Date.now() - 2 * 3_600_000));
    }
    writeFileSync(join(directory, "state.new-living"), "half");

    await writeDurably(join(directory, "state"), "whole");

    expect(readdirSync(directory).sort()).toEqual([...others, "state.new-living"].sort());
    expect(readFileSync(join(directory, "state"), "utf8")).toBe("whole");
  });

  it("lets writers of one file race: the file is the whole content of one of them", async () => {
    const contents = ["a", "b", "c", "d"].map((letter) => letter.repeat(100_000));

    await Promise.all(contents.map((content) => writeDurably(join(directory, "state"), content)));

    expect(contents).toContain(readFileSync(join(directory, "state"), "utf8"));
    expect(readdirSync(directory)).toEqual(["state"]);
  });

  it("leaves no temporary file behind when it fails", async () => {
    mkdirSync(join(directory, "taken"));
    writeFileSync(join(directory, "taken", "child"), "");

    await expect(writeDurably(join(directory, "taken"), "x")).rejects.toThrow();

    expect(readdirSync(directory)).toEqual(["taken"]);
  });
});

describe("createDurably", () => {
  it("creates a file that only our user can read, and leaves no other file behind", async () => {
    await createDurably(join(directory, "a"), "content");

    expect(readFileSync(join(directory, "a"), "utf8")).toBe("content");
    expect(statSync(join(directory, "a")).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(["a"]);
  });

  it("never replaces a file, nor the target of a symbolic link", async () => {
    writeFileSync(join(directory, "a"), "precious");
    symlinkSync(join(directory, "a"), join(directory, "b"));

    await expect(createDurably(join(directory, "a"), "x")).rejects.toMatchObject({ code: "EEXIST" });
    await expect(createDurably(join(directory, "b"), "x")).rejects.toMatchObject({ code: "EEXIST" });

    expect(readFileSync(join(directory, "a"), "utf8")).toBe("precious");
    expect(readdirSync(directory).sort()).toEqual(["a", "b"]);
  });

  it("lets exactly one of several callers succeed", async () => {
    const outcomes = await Promise.allSettled(["1", "2", "3"].map((text) => createDurably(join(directory, "a"), text)));

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(readdirSync(directory)).toEqual(["a"]);
  });
});
