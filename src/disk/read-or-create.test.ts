import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readOrCreate } from "./write-durably.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-create-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe("readOrCreate", () => {
  it("creates a missing file and returns its text", async () => {
    const file = join(directory, "token");

    expect(await readOrCreate(file, () => "new")).toBe("new");
    expect(readFileSync(file, "utf8")).toBe("new");
  });

  it("returns the text of an existing file and does not change it", async () => {
    const file = join(directory, "token");
    writeFileSync(file, "old");

    expect(await readOrCreate(file, () => "new")).toBe("old");
    expect(readFileSync(file, "utf8")).toBe("old");
  });

  it("returns the same text to all callers that create the file at once", async () => {
    const texts = await Promise.all(["a", "b", "c"].map((text) => readOrCreate(join(directory, "token"), () => text)));

    expect(new Set(texts).size).toBe(1);
  });

  it("fails if the file exists and cannot be read", async () => {
    mkdirSync(join(directory, "token"));

    await expect(readOrCreate(join(directory, "token"), () => "new")).rejects.toThrow("EISDIR");
  });
});
