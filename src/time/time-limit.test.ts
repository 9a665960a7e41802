import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { timeLimit } from "./clock.ts";

describe("a time limit", () => {
  it("aborts its signal when it is exceeded, not earlier", async () => {
    const clock = new ManualClock();
    using limit = timeLimit(clock, 100, new AbortController().signal);

    await clock.advance(99);
    expect(limit.signal.aborted).toBe(false);
    await clock.advance(1);

    expect(limit.signal.aborted).toBe(true);
  });

  it("aborts its signal with the reason of the given signal", () => {
    const stop = new AbortController();
    using limit = timeLimit(new ManualClock(), 100, stop.signal);

    stop.abort("stopping");

    expect(limit.signal.reason).toBe("stopping");
  });

  it("leaves no timer when it is disposed", () => {
    const clock = new ManualClock();

    timeLimit(clock, 100)[Symbol.dispose]();

    expect(clock.pendingTimers).toBe(0);
  });
});
