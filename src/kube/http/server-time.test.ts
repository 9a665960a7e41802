import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { ServerTime } from "./server-time.ts";

const second = 1_000;
const start = Date.parse("2026-05-01T10:00:00Z");

describe("the server's time", () => {
  it("is the local time until the first response", () => {
    const { clock, time } = world();

    expect(time.nowMs()).toBe(clock.wallMs());
    time.observe({ date: "not a date" }, clock.now());
    expect(time.nowMs()).toBe(clock.wallMs());
  });

  it("is the Date of the first response, and advances from there", async () => {
    const { clock, time } = world();

    time.observe({ date: date(start) }, clock.now());
    await clock.advance(400);

    expect(time.nowMs()).toBe(start + 400);
  });

  it("becomes exact with a response from the beginning of a second", async () => {
    const { clock, time } = world();
    // The server's clock is at .900: its Date is 900 ms old.
    time.observe({ date: date(start) }, clock.now());
    await clock.advance(100);

    time.observe({ date: date(start + second) }, clock.now());

    expect(time.nowMs()).toBe(start + second);
    await clock.advance(950);
    time.observe({ date: date(start + second) }, clock.now());
    expect(time.nowMs()).toBe(start + second + 950);
  });

  it("is never ahead, however long a response takes", async () => {
    const { clock, time } = world();
    const sentAt = clock.now();
    await clock.advance(5_000);

    time.observe({ date: date(start) }, sentAt);

    expect(time.nowMs()).toBe(start);
  });

  it("is exact at once if the server sends milliseconds", async () => {
    const { clock, time } = world();

    time.observe({ date: date(start), "x-interlock-time-ms": String(start + 777) }, clock.now());

    expect(time.nowMs()).toBe(start + 777);
    await clock.advance(100);
    time.observe({ date: date(start), "x-interlock-time-ms": "soon" }, clock.now());
    expect(time.nowMs()).toBe(start + 877);
  });

  it.each([
    ["forward", 3_600 * second],
    ["back", -3_600 * second],
  ])("follows a server clock that is set %s", async (_direction, byMs) => {
    const { clock, time } = world();
    time.observe({ date: date(start) }, clock.now());
    await clock.advance(second);

    time.observe({ date: date(start + second + byMs) }, clock.now());

    expect(time.nowMs()).toBe(start + second + byMs);
  });
});

function world() {
  const clock = new ManualClock();
  return { clock, time: new ServerTime(clock) };
}

function date(ms: number): string {
  return new Date(ms).toUTCString();
}
