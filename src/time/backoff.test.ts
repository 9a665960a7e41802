import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

describe("a backoff", () => {
  it.each([
    [1, 100],
    [2, 200],
    [3, 400],
    [5, 1_600],
    [6, 3_000],
    [2_000, 3_000],
  ])("before retry %i is %i ms, without jitter", (attempt, ms) => {
    expect(backoffMs(attempt, { baseMs: 100, maxMs: 3_000, jitter: 0 }, 0.9)).toBe(ms);
  });

  it.each([
    [0, 80],
    [0.5, 100],
    [0.75, 110],
  ])("moves with chance %d to %i ms, with a jitter of 20 %", (chance, ms) => {
    expect(backoffMs(1, { baseMs: 100, maxMs: 3_000, jitter: 0.2 }, chance)).toBeCloseTo(ms);
  });

  it("stays within its jitter of the cap for any attempt", () => {
    const attempt = fc.integer({ min: -5, max: 1e9 });
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(attempt, chance, (attempt, chance) => {
        const ms = backoffMs(attempt, { baseMs: 50, maxMs: 2_000, jitter: 0.5 }, chance);
        return ms >= 25 && ms <= 3_000;
      }),
    );
  });
});
