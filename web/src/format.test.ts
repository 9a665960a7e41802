import { describe, expect, it } from "vitest";
import {
  axisTop,
  formatCountdown,
  formatDuration,
  formatLocal,
  formatPeriod,
  formatQuantity,
  formatRelative,
  formatTick,
  formatUtc,
  shortName,
} from "./format.ts";

const now = Date.parse("2026-11-16T18:00:00Z");

describe("formatDuration", () => {
  it.each([
    [-5, "0s"],
    [0, "0s"],
    [999, "<1s"],
    [45_000, "45s"],
    [200_000, "3m 20s"],
    [7_500_000, "2h 05m"],
    [4 * 86_400_000 + 3 * 3_600_000, "4d 03h"],
  ])("shows the two largest units of %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});

describe("formatRelative", () => {
  it.each([
    [0, "just now"],
    [-1_500, "just now"],
    [-12_000, "12s ago"],
    [180_000, "in 3m"],
    [-7_200_000, "2h ago"],
    [-3 * 86_400_000, "3d ago"],
  ])("shows a distance of %d ms as %s", (distance, text) => {
    expect(formatRelative(now + distance, now)).toBe(text);
  });
});

describe("formatCountdown", () => {
  it.each([
    [-1, "0:00"],
    [1, "0:01"],
    [64_000, "1:04"],
    [720_000, "12:00"],
    [7_200_000, "2:00:00"],
    [3 * 86_400_000 + 4 * 3_600_000, "3d 04h"],
  ])("shows %d ms as %s", (ms, text) => {
    expect(formatCountdown(ms)).toBe(text);
  });
});

describe("formatLocal", () => {
  it.each([
    ["2026-11-16T08:15:09Z", "08:15:09"],
    ["2026-11-15T08:15:09Z", "15 Nov, 08:15:09"],
    ["2025-12-31T23:59:59Z", "31 Dec 2025, 23:59:59"],
    ["2026-11-16T00:00:00Z", "00:00:00"],
  ])("shows %s as %s", (at, text) => {
    expect(formatLocal(Date.parse(at), now, "UTC")).toBe(text);
  });

  it("uses the day of the viewer's time zone", () => {
    expect(formatLocal(Date.parse("2026-11-15T23:30:00Z"), now, "Europe/Berlin")).toBe("00:30:00");
  });
});

it("shows UTC to the second", () => {
  expect(formatUtc(now + 999)).toBe("2026-11-16 18:00:00 UTC");
});

it.each([
  ["2026-11-16T18:08:00Z", "18:08"],
  ["2026-11-16T18:08:20Z", "18:08:20"],
  ["2026-11-16T00:00:00Z", "16 Nov"],
])("shows %s on an axis as %s", (at, text) => {
  expect(formatTick(Date.parse(at), "UTC")).toBe(text);
});

it.each([
  [0, 1],
  [1, 1],
  [2, 2],
  [5, 5],
  [39, 40],
  [198, 200],
  [1_001, 2_000],
])("has for counts up to %d an axis up to %d", (max, top) => {
  expect(axisTop(max)).toBe(top);
});

it.each([
  [30, "30 seconds"],
  [60, "1 minute"],
  [90, "90 seconds"],
  [7_200, "2 hours"],
])("shows a period of %d seconds as %s", (seconds, text) => {
  expect(formatPeriod(seconds)).toBe(text);
});

it("counts in the singular and in the plural", () => {
  expect([0, 1, 1_234].map((count) => formatQuantity(count, "line"))).toEqual(["0 lines", "1 line", "1,234 lines"]);
});

it("shortens the key of an object as the command line prints its name", () => {
  expect(shortName(`kubernaut-system/rr-${"0a1b".repeat(13)}-1-1`)).toBe("rr-0a1b0a1b-1-1");
  expect(shortName("kubernaut-system/node-drain-3g4i2in9m6gr")).toBe("node-drain-3g4i2in9m6gr");
});
