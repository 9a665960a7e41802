import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../../telemetry/index.ts";
import { openFileSpill } from "./file-spill.ts";
import type { SpilledText, TextSpill } from "./stored-object.ts";

let directory: string;
let spill: TextSpill;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-spill-"));
  spill = openFileSpill(directory, { log: silentLogger, minCharacters: 10 });
});

afterEach(() => {
  spill.close();
  rmSync(directory, { recursive: true });
});

describe("a spill file", () => {
  it("returns each text as it was put, regardless of other puts and frees", () => {
    const text = fc.string({ unit: "grapheme", minLength: 10, maxLength: 3_000 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.nat(5)), { maxLength: 40 }), (steps) => {
        const kept: { readonly text: string; readonly spilled: SpilledText }[] = [];
        for (const [text, at] of steps) {
          const spilled = spill.put(text);
          if (spilled) kept.push({ text, spilled });
          for (const { spilled } of kept.splice(at, 1)) spilled.free();
          for (const { text, spilled } of kept) expect(spilled.read()).toBe(text);
        }
        for (const { spilled } of kept) spilled.free();
      }),
    );
  });

  it("rejects a text that is shorter than its limit", () => {
    expect(spill.put("short")).toBeUndefined();
  });

  it("has no name in its directory", () => {
    spill.put("x".repeat(1_000));

    expect(readdirSync(directory)).toEqual([]);
  });

  it("rejects reads and texts after it was closed", () => {
    const spilled = spill.put("x".repeat(1_000));
    spill.close();

    expect(() => spilled?.read()).toThrow("closed");
    expect(spill.put("x".repeat(1_000))).toBeUndefined();
  });
});
