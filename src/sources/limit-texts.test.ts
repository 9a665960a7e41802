import { describe, expect, it } from "vitest";
import { limitTexts, maxTextLength, maxTextsLength } from "./limit-texts.ts";

describe("the labels or annotations of a signal", () => {
  it("are unchanged at usual sizes", () => {
    const texts = { alertname: "DiskFull", node: "worker-1", summary: "x".repeat(1_500) };

    expect(limitTexts(texts)).toBe(texts);
  });

  it("are cut with a note if a value is too long", () => {
    const { log = "", node } = limitTexts({ log: "x".repeat(120_000), node: "worker-1" });

    expect(node).toBe("worker-1");
    expect(log).toHaveLength(maxTextLength);
    expect(log).toMatch(/^x+… \(truncated from 120000 characters, sha256 [0-9a-f]{16}\)$/);
  });

  it("stay different if they differ only after the cut", () => {
    const [one, other] = ["a", "b"].map((end) => limitTexts({ log: "x".repeat(5_000) + end })["log"]);

    expect(one).not.toBe(other);
  });

  it("are omitted beyond the total, with a note of their number", () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`label${i}`, `value${i}`]));

    const limited = limitTexts(many);

    expect(JSON.stringify(limited).length).toBeLessThan(2 * maxTextsLength);
    expect(limited["interlock_truncated"]).toMatch(/^\d+ more left out/);
    expect(limited["label0"]).toBe("value0");
  });

  it("keep a label called __proto__ as a label", () => {
    const texts = JSON.parse(`{"__proto__":"x","log":"${"y".repeat(3_000)}"}`);

    expect(Object.hasOwn(limitTexts(texts), "__proto__")).toBe(true);
  });

  it("have escapes in place of characters that YAML cannot contain", () => {
    expect(limitTexts({ "a\u007f": "b\u009b2J", node: "worker-1" })).toEqual({
      [String.raw`a\u007f`]: String.raw`b\u009b2J`,
      node: "worker-1",
    });
  });
});
