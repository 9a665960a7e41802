import { describe, expect, it } from "vitest";
import { keyOf } from "../key.ts";
import { memoryWatermarks } from "../memory/memory-watermarks.ts";
import { openWatermark } from "./watermarks.ts";

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
