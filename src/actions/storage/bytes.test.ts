import { describe, expect, it } from "vitest";
import { formatBytes, parseBytes } from "./bytes.ts";

describe("a quantity of storage", () => {
  it.each([
    ["10Gi", 10_737_418_240n],
    ["1.5Ti", 1_649_267_441_664n],
    ["500M", 500_000_000n],
    ["1000000", 1_000_000n],
  ])("%s has its bytes", (text, bytes) => {
    expect(parseBytes(text)).toBe(bytes);
  });

  it.each(["", "Gi", "1e3", "10 Gi", "-1Gi", "10Gib"])("cannot be read from %j", (text) => {
    expect(parseBytes(text)).toBeUndefined();
  });

  it.each([
    [10_737_418_240n, "10Gi"],
    [12_884_901_888n, "12Gi"],
    [500_000_000n, "500000000"],
    [0n, "0"],
  ])("of %s bytes is written exactly as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
