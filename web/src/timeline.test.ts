import { describe, expect, it } from "vitest";
import type { TimelineEvent } from "../../src/console/wire.ts";
import { countByTime, fullRange, layoutMarks, panRange, ticks, toX, zoomRange } from "./timeline.ts";

const now = Date.parse("2026-11-16T18:00:00Z");
const minute = 60_000;
const limits = { from: 0, to: 100 * minute };

describe("the range of a timeline", () => {
  it("has all events, the present, and some room", () => {
    const range = fullRange([event(-100), event(-50, { until: 20 })], now);

    expect(range.from).toBeLessThan(now - 100 * minute);
    expect(range.to).toBeGreaterThan(now + 20 * minute);
  });

  it("is a minute at least, also without events", () => {
    const { from, to } = fullRange([], now);

    expect(to - from).toBeGreaterThanOrEqual(minute);
  });

  it("keeps the point under the pointer while it is zoomed", () => {
    const range = zoomRange({ from: 20 * minute, to: 60 * minute }, 0.5, 0.25, limits);

    expect(range).toEqual({ from: 25 * minute, to: 45 * minute });
    expect(toX(30 * minute, range, 100)).toBe(25);
  });

  it("is never wider than its limits, nor narrower than ten seconds", () => {
    expect(zoomRange({ from: 20 * minute, to: 60 * minute }, 100, 0.5, limits)).toEqual(limits);
    const narrow = zoomRange({ from: 20 * minute, to: 60 * minute }, 0, 0.5, limits);
    expect(narrow.to - narrow.from).toBe(10_000);
  });

  it("stops at its limits when it is moved", () => {
    expect(panRange({ from: 0, to: 10 * minute }, -0.5, limits)).toEqual({ from: 0, to: 10 * minute });
    expect(panRange({ from: 85 * minute, to: 95 * minute }, 1, limits)).toEqual({
      from: 90 * minute,
      to: 100 * minute,
    });
  });
});

describe("ticks", () => {
  it("are round times with enough room", () => {
    expect(ticks({ from: 30_000, to: 10 * minute }, 600, 100)).toEqual([5 * minute, 10 * minute]);
  });

  it("are round in the viewer's time zone", () => {
    const range = { from: now - 24 * 60 * minute, to: now };

    expect(ticks(range, 100, 90, 60 * minute)).toEqual([Date.parse("2026-11-15T23:00:00Z")]);
  });
});

describe("the marks of a lane", () => {
  const options = { range: { from: now - 100 * minute, to: now }, width: 1_000, now };

  it("join moments that would lie upon one another, with the worst tone", () => {
    const marks = layoutMarks([event(-50), event(-49.5, { tone: "bad" }), event(-20)], options);

    expect(marks.map(({ x, tone, events }) => [x, tone, events.length])).toEqual([
      [500, "bad", 2],
      [800, "neutral", 1],
    ]);
  });

  it("stack overlapping spans", () => {
    const lane = "runs";
    const marks = layoutMarks(
      [event(-50, { lane, until: -30 }), event(-40, { lane, until: -35 }), event(-20, { lane, until: -10 })],
      options,
    );

    expect(marks.map(({ x, width, row }) => [x, width, row])).toEqual([
      [500, 200, 0],
      [600, 50, 1],
      [800, 100, 0],
    ]);
  });

  it("let a run without an end last until now", () => {
    expect(layoutMarks([event(-30, { lane: "runs" })], options)).toMatchObject([{ x: 700, width: 300 }]);
  });

  it("leave out events outside the range", () => {
    expect(layoutMarks([event(-200), event(-200, { lane: "runs", until: -150 })], options)).toEqual([]);
  });
});

it("counts times in equal parts of a range", () => {
  const points = [0, 1, 5, 9, 10, 11, -1].map((at) => ({ at, count: 2 }));

  expect(countByTime(points, { from: 0, to: 10 }, 2)).toEqual({ starts: [0, 5], counts: [4, 6] });
});

function event(
  minutes: number,
  fields: { lane?: TimelineEvent["lane"]; until?: number; tone?: TimelineEvent["tone"] } = {},
): TimelineEvent {
  const { lane = "signals", until, tone = "neutral" } = fields;
  const at = (distance: number) => new Date(now + distance * minute).toISOString();
  return { at: at(minutes), ...(until !== undefined && { until: at(until) }), lane, title: "event", tone };
}
