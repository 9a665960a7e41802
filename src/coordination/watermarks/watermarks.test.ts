import { describe, expect, it } from "vitest";
import { keyOf } from "../key.ts";
import { memoryWatermarks } from "../memory/memory-watermarks.ts";
import { dedupTtlProblem, openWatermark } from "./watermarks.ts";

const hour = 3_600_000;

describe("the retention of finished claims", () => {
  const times = { maxReplayMs: 20 * hour, overlapMs: hour, maxProcessingMs: 3 * hour };

  it("is enough when it covers the longest replay, the overlap and the longest processing", () => {
    expect(dedupTtlProblem({ ...times, dedupTtlMs: 24 * hour })).toBeUndefined();
  });

  it("is a problem that can be read when it does not", () => {
    expect(dedupTtlProblem({ ...times, dedupTtlMs: 23 * hour })).toBe(
      "completed work is remembered for 23h, but may be reported again for 24h " +
        "(longest replay + overlap + longest processing), and would then be done twice",
    );
  });
});

describe("what cannot be opened", () => {
  const serverDate = new Date("2025-02-19T12:00:00Z");

  it.each([
    [{ from: "now", serverDate, overlapMs: -1 } as const, "overlapMs"],
    [{ from: Number.NaN, serverDate } as const, "from"],
    [{ from: -1, serverDate } as const, "from"],
    [{ from: "now", serverDate: new Date("never") } as const, "serverDate"],
  ])("%j is a mistake of the caller", async (options, named) => {
    await expect(openWatermark(memoryWatermarks(), keyOf("a"), options)).rejects.toThrow(new RegExp(`^${named} `));
  });
});
