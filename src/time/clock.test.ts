import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../test/doubles/manual-clock.ts";
import { sleep } from "./clock.ts";

describe("a sleep", () => {
  it("ends when its time is over, not earlier", async () => {
    const clock = new ManualClock();
    let awake = false;
    const sleeping = sleep(clock, 100).then(() => {
      awake = true;
    });

    await clock.advance(99);
    expect(awake).toBe(false);
    await clock.advance(1);

    await sleeping;
  });

  it("rejects with the reason of its signal as soon as that aborts, and leaves no timer", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const sleeping = expect(sleep(clock, 100, stop.signal)).rejects.toBe("enough");

    stop.abort("enough");
    await settle();

    await sleeping;
    expect(clock.pendingTimers).toBe(0);
  });

  it("does not begin under a signal that is aborted already", async () => {
    const clock = new ManualClock();

    await expect(sleep(clock, 100, AbortSignal.abort("no"))).rejects.toBe("no");

    expect(clock.pendingTimers).toBe(0);
  });

  it("leaves no listener on its signal, however it ends", async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const ended = sleep(clock, 10, stop.signal);
    await clock.advance(10);
    await ended;
    const aborted = sleep(clock, 10, stop.signal);

    stop.abort();
    await aborted.catch(() => {});

    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  });
});
