import { describe, expect, it } from "vitest";
import { keyOf } from "../key.ts";
import { watermarksContract } from "../watermarks/watermarks.contract.ts";
import { openWatermark } from "../watermarks/watermarks.ts";
import { memoryWatermarks } from "./memory-watermarks.ts";

watermarksContract("memory", async () => {
  const store = memoryWatermarks();
  return { connect: async () => store, stop: async () => {} };
});

describe("watermarks in memory", () => {
  it("report that a restart loses them", async () => {
    const options = { from: "now", overlapMs: 0 } as const;
    const key = keyOf("notes");
    await openWatermark(memoryWatermarks(), key, { ...options, serverDate: new Date("2025-02-19T12:00:00Z") });

    const restarted = memoryWatermarks();
    const reopened = await openWatermark(restarted, key, { ...options, serverDate: new Date("2025-02-19T15:00:00Z") });

    expect(restarted.guarantee).toBe("process");
    expect(reopened.queryFrom()).toBe("2025-02-19T15:00:00.000Z");
  });
});
