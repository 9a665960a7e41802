import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDurably } from "./write-durably.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-create-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe("createDurably", () => {
  it("creates a file for us alone to read, and leaves nothing else behind", async () => {
    await createDurably(join(directory, "a"), "content");

    expect(readFileSync(join(directory, "a"), "utf8")).toBe("content");
    expect(statSync(join(directory, "a")).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(["a"]);
  });

  it("never replaces a file, nor what a symbolic link leads to", async () => {
    writeFileSync(join(directory, "a"), "precious");
    symlinkSync(join(directory, "a"), join(directory, "b"));

    await expect(createDurably(join(directory, "a"), "x")).rejects.toMatchObject({ code: "EEXIST" });
    await expect(createDurably(join(directory, "b"), "x")).rejects.toMatchObject({ code: "EEXIST" });

    expect(readFileSync(join(directory, "a"), "utf8")).toBe("precious");
    expect(readdirSync(directory).sort()).toEqual(["a", "b"]);
  });

  it("lets one of several win", async () => {
    const outcomes = await Promise.allSettled(["1", "2", "3"].map((text) => createDurably(join(directory, "a"), text)));

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(readdirSync(directory)).toEqual(["a"]);
  });
});
