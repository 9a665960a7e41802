import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("a written duration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["1m30s", 90_000],
    ["90m", 5_400_000],
    ["1h2m3s4ms", 3_723_004],
    ["0s", 0],
  ])("%s is %i ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(["", "30", "s", "1.5s", "-1s", "30 s", "30S", "1s1m", "1d", "5m5m", "99999999999999h"])(
    "%j is not one",
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );
});

describe("a printed duration", () => {
  it.each([
    [150_000, "2m30s"],
    [86_400_000, "24h"],
    [1_500, "1s500ms"],
    [0, "0s"],
    [149_999.7, "2m30s"],
  ])("%d ms is %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("cannot be %d ms", (ms) => {
    expect(() => formatDuration(ms)).toThrow(TypeError);
  });

  it("reads back as the same number of milliseconds", () => {
    fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});
