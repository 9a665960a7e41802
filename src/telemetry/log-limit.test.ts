import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { limitLog } from "./log-limit.ts";

describe("an event that repeats", () => {
  it("is logged once in each interval, with the number of events left out", async () => {
    const clock = new ManualClock();
    const take = limitLog(clock, 1_000);

    const first = [take("a"), take("a"), take("a")];
    await clock.advance(1_000);

    expect([...first, take("a"), take("a")]).toEqual([0, undefined, undefined, 2, undefined]);
  });

  it("does not hide one with another key", () => {
    const take = limitLog(new ManualClock(), 1_000);

    expect([take("a"), take("a"), take("b")]).toEqual([0, undefined, 1]);
  });

  it("is logged for a hundred keys in an interval", async () => {
    const clock = new ManualClock();
    const take = limitLog(clock, 1_000);

    const logged = Array.from({ length: 150 }, (_, key) => take(`key ${key}`)).filter((left) => left !== undefined);
    await clock.advance(1_000);

    expect([logged.length, take("key 149")]).toEqual([100, 50]);
  });
});
