import { describe, expect, it } from "vitest";
import { maxYamlDepth, yamlDepth } from "./yaml-depth.ts";

describe("the depth of a YAML text", () => {
  it.each([
    ["a scalar", "a", 1],
    ["a map", "a: b\nc: d", 1],
    ["nested maps", "a:\n  b:\n    c: d\ne: f", 3],
    ["nested lists on one line", "- - - a", 4],
    ["explicit keys", "? ? a", 3],
    ["flow in a block", "a:\n  - [b, {c: d}]", 5],
    ["a list that comes back to the left", "a:\n  b: c\nd:\n  e: f", 2],
    ["brackets over several lines", "[\n[\n[\n]]]", 4],
  ])("of %s", (_what, text, depth) => {
    expect(yamlDepth(text)).toBeGreaterThanOrEqual(depth - 1);
    expect(yamlDepth(text)).toBeLessThanOrEqual(depth + 1);
  });

  it.each([
    ["brackets", "[".repeat(3_000)],
    ["dashes", `${"- ".repeat(3_000)}a`],
    ["question marks", `${"? ".repeat(3_000)}a`],
    ["colons", `${": ".repeat(3_000)}a`],
    ["tabs", `${"-\t".repeat(3_000)}a`],
    ["mixed", `${"- ? [".repeat(1_000)}a`],
    ["indentation", Array.from({ length: 600 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
  ])("is too large for %s without end", (_what, text) => {
    expect(yamlDepth(text)).toBeGreaterThan(maxYamlDepth);
  });

  it("is small for a usual manifest", () => {
    const text = "spec:\n  template:\n    spec:\n      containers:\n      - name: a\n        args: [-c, 'echo {}']\n";

    expect(yamlDepth(text.repeat(100))).toBeLessThan(12);
  });
});
