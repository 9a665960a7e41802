import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "./system-clock.ts";

describe("the system's clock", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it("wakes after the delay, once", () => {
    const wake = vi.fn();
    systemClock().after(100, wake);

    vi.advanceTimersByTime(99);
    expect(wake).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1_000);

    expect(wake).toHaveBeenCalledOnce();
  });

  it("does not fire cancelled timers", () => {
    const wake = vi.fn();
    const timer = systemClock().after(100, wake);

    timer.cancel();
    vi.advanceTimersByTime(1_000);

    expect(wake).not.toHaveBeenCalled();
  });

  it("takes a delay in the past for none", () => {
    const wake = vi.fn();
    systemClock().after(-5, wake);

    vi.advanceTimersByTime(0);

    expect(wake).toHaveBeenCalledOnce();
  });

  it("wakes in the next turn of the event loop without a delay, unless it is cancelled", async () => {
    vi.useRealTimers();
    const order: string[] = [];
    systemClock().after(0, () => order.push("timer"));
    systemClock()
      .after(0, () => order.push("cancelled"))
      .cancel();
    order.push("caller");

    await new Promise((resolve) => setImmediate(resolve));

    expect(order).toEqual(["caller", "timer"]);
  });

  it("keeps a delay longer than Node's timers can", () => {
    const wake = vi.fn();
    systemClock().after(60 * day, wake);

    vi.advanceTimersByTime(60 * day - 1);
    expect(wake).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);

    expect(wake).toHaveBeenCalledOnce();
  });

  it("cancels a long delay in any part of it", () => {
    const wake = vi.fn();
    const timer = systemClock().after(60 * day, wake);

    vi.advanceTimersByTime(40 * day);
    timer.cancel();
    vi.advanceTimersByTime(40 * day);

    expect(wake).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    [true, 0],
    [false, 1],
  ])("with a pending timer of `background: %s` keeps the process alive for %i of them", (background, kept) => {
    vi.useRealTimers();
    const before = activeTimers();

    const timer = systemClock().after(60 * day, () => {}, { background });

    expect(activeTimers() - before).toBe(kept);
    timer.cancel();
  });

  it("does not go back when the wall clock is set", () => {
    const clock = systemClock();
    const before = clock.now();

    vi.setSystemTime(0);

    expect(clock.wallMs()).toBe(0);
    expect(clock.now()).toBeGreaterThanOrEqual(before);
  });
});

const day = 86_400_000;

/** Those the process waits for. */
function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}
