import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
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
  it("never writes through a symbolic link at the name of its temporary file", async () => {
    const victim = join(directory, "victim");
    writeFileSync(victim, "untouched");
    symlinkSync(victim, join(directory, "token.new"));

    await writeDurably(join(directory, "token"), "s3cret");

    expect(readFileSync(victim, "utf8")).toBe("untouched");
    expect(readFileSync(join(directory, "token"), "utf8")).toBe("s3cret");
  });

  it("never reuses an existing temporary file and its mode", async () => {
    const prepared = join(directory, "token.new");
    writeFileSync(prepared, "prepared");
    chmodSync(prepared, 0o666);

    await writeDurably(join(directory, "token"), "s3cret");

    expect(statSync(join(directory, "token")).mode & 0o777).toBe(0o600);
    expect(readFileSync(prepared, "utf8")).toBe("prepared");
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
