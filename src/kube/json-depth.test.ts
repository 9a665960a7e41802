import { describe, expect, it } from "vitest";
import { isJsonDeeper } from "./json-depth.ts";

describe("the depth of a JSON text", () => {
  it.each([
    ["{}", 1, false],
    ["{}", 0, true],
    ['{"a":[[]]}', 3, false],
    ['{"a":[[]]}', 2, true],
    ["[[],[],[]]", 2, false],
    ['["[[[["]', 1, false],
    ['["\\"[[[["]', 1, false],
    ['["\\\\",[[]]]', 2, true],
    ['["\\\\\\"[[[["]', 1, false],
    ['["unfinished [[[[', 1, false],
    ['["unfinished \\"', 1, false],
  ])("of %s is more than %d: %s", (text, maxDepth, expected) => {
    expect(isJsonDeeper(text, maxDepth)).toBe(expected);
  });
});
