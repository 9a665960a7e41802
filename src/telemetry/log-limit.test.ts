import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { LogLimit } from "./log-limit.ts";

describe("a condition that lasts", () => {
  it("is logged when it begins, and then at intervals with the number of suppressed events", async () => {
    const clock = new ManualClock();
    const limit = new LogLimit(clock, 1_000);

    const first = [limit.take("a"), limit.take("a"), limit.take("a")];
    await clock.advance(1_000);

    expect([...first, limit.take("a"), limit.take("a")]).toEqual([0, undefined, undefined, 2, undefined]);
  });

  it("does not suppress events of another one", () => {
    const limit = new LogLimit(new ManualClock());

    expect([limit.take("a"), limit.take("b")]).toEqual([0, 0]);
  });
});
