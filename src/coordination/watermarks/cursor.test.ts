import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Cursor, instantMs, lag, nextCursor, type PolledItem, queryFrom } from "./cursor.ts";

const minute = 60_000;

/** `f5` is a finished item of minute 5, `u5` one that is not. Bound = server − 1. */
describe("a cursor at minute 10 with an overlap of one minute", () => {
  it.each<[string, string[], number, { more: true } | undefined, string]>([
    // listed items, server's minute, more pages → the cursor afterwards
    ["moves to the bound when nothing was listed", [], 20, undefined, "19"],
    ["moves to the bound when all is finished", ["f11", "f12"], 20, undefined, "19"],
    ["moves to the bound when the finished items lie beyond it", ["f19.5"], 20, undefined, "19"],
    [
      "moves to the last finished item before the first unfinished",
      ["f11", "f12", "u13", "f14"],
      20,
      undefined,
      "12 f12",
    ],
    ["stays when the first item is not finished", ["u11", "f12"], 20, undefined, "10"],
    ["stays when an item of the overlap is not finished", ["u9.5", "f11"], 20, undefined, "10"],
    ["does not go back to an item of the overlap", ["f9.5", "u11"], 20, undefined, "10"],
    ["never passes the bound on items", ["f11", "f19.5", "u19.7"], 20, undefined, "19"],
    ["stays when the bound is behind it", [], 10.5, undefined, "10"],
    ["stays when the server's clock went back", ["f11"], 5, undefined, "10"],
    ["moves to the last item when there are more pages", ["f11", "f12"], 20, { more: true }, "12 f12"],
    ["stays when there are more pages and none was read", [], 20, { more: true }, "10"],
    ["takes items in order of time, however they were listed", ["f14", "u13", "f11"], 20, undefined, "11 f11"],
    [
      "may stand at the instant of an unfinished item, for sources list inclusively",
      ["f11", "u11"],
      20,
      undefined,
      "11 f11",
    ],
  ])("%s", (_name, items, server, pages, expected) => {
    const poll = { items: items.map(item), serverDate: at(server), overlapMs: minute, more: false, ...pages };

    const next = nextCursor(cursorAt(10), poll);

    expect(shown(next)).toBe(expected);
  });

  it("is queried from one minute earlier", () => {
    expect(queryFrom(cursorAt(10), minute)).toBe(cursorAt(9).updatedAt);
  });

  it("lags by the time since then, and never by a negative time", () => {
    expect(lag({ cursor: cursorAt(10) }, at(25))).toBe(15 * minute);
    expect(lag({ cursor: cursorAt(10) }, at(5))).toBe(0);
  });
});

describe("an item created while a poll is under way", () => {
  it("is found by the next poll: created at T1, during the poll from T0 to T2, and found at T3", () => {
    const [t0, t1, t2] = [20, 21, 22];
    const note = { ...item(`u${t1}`), id: "note" };

    // The poll that began at T0 has seen nothing when it ends at T2. What counts is when it began.
    const afterT2 = nextCursor(cursorAt(10), { items: [], serverDate: at(t0), overlapMs: minute, more: false });
    const listedAtT3 = [note].filter(({ updatedAt }) => instantMs(updatedAt) >= instantMs(queryFrom(afterT2, minute)));

    expect(listedAtT3).toEqual([note]);
    expect(lag({ cursor: afterT2 }, at(t2))).toBeGreaterThanOrEqual((t2 - t0) * minute);
  });
});

describe("an instant", () => {
  it.each([
    ["2025-02-19T12:34:56Z", 1_739_968_496_000],
    ["2025-02-19T12:34:56.789012+00:00", 1_739_968_496_789],
    ["2025-02-19T12:34:56.7899Z", 1_739_968_496_789],
    ["2025-02-19T12:34:56,5Z", 1_739_968_496_500],
    ["2025-02-19T12:34:56.789+0000", 1_739_968_496_789],
    ["2025-02-19T18:04:56+05:30", 1_739_968_496_000],
    ["2025-02-19T07:34:56-05", 1_739_968_496_000],
    ["2025-02-19T00:04:56-1230", 1_739_968_496_000],
    ["2025-02-19 12:34:56Z", 1_739_968_496_000],
  ])("%s is read, whatever its offset", (text, ms) => {
    expect(instantMs(text)).toBe(ms);
  });

  it.each([
    "2025-02-19T12:34:56",
    "2025-02-19",
    "2025-02-30T00:00:00Z",
    "2025-02-19T25:00:00Z",
    "2025-02-19T12:34:56+24:00",
    "2025-02-19T12:34:56+05:60",
    "Wed, 19 Feb 2025 12:34:56 GMT",
    "1739968496",
    "",
  ])("%j is not one: without an offset the time zone is unknown", (text) => {
    expect(() => instantMs(text)).toThrow(TypeError);
  });
});

describe("any cursor, after any poll", () => {
  const items = fc.array(
    fc.record({ id: fc.string(), minute: fc.integer({ min: 0, max: 30 }), finished: fc.boolean() }),
    { maxLength: 12 },
  );
  const polls = fc.tuple(fc.integer({ min: 0, max: 30 }), items, fc.integer({ min: 0, max: 40 }), fc.boolean());

  it("has not passed an item that is not finished, nor the bound, nor gone back", () => {
    fc.assert(
      fc.property(polls, ([start, listed, server, more]) => {
        const cursor = cursorAt(start);
        const poll = { items: listed.map(polled), serverDate: at(server), overlapMs: minute, more };

        const next = nextCursor(cursor, poll);

        const before = instantMs(cursor.updatedAt);
        const after = instantMs(next.updatedAt);
        expect(after).toBeGreaterThanOrEqual(before);
        if (next === cursor) return;
        expect(after).toBeLessThanOrEqual(at(server).getTime() - minute);
        for (const each of poll.items.filter(({ finished }) => !finished)) {
          expect(after).toBeLessThanOrEqual(instantMs(each.updatedAt));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("does not depend on the order of the list, but for items of one instant", () => {
    fc.assert(
      fc.property(polls, fc.infiniteStream(fc.nat()), ([start, listed, server, more], order) => {
        const each = listed.map((entry, i) => ({ ...polled(entry), id: `${i}`, order: order.next().value as number }));
        const distinct = each.filter((one, i) => each.findIndex((two) => two.updatedAt === one.updatedAt) === i);
        const poll = { items: distinct, serverDate: at(server), overlapMs: minute, more };
        const shuffled = { ...poll, items: [...distinct].sort((a, b) => a.order - b.order) };

        expect(nextCursor(cursorAt(start), shuffled)).toEqual(nextCursor(cursorAt(start), poll));
      }),
    );
  });
});

function at(minutes: number): Date {
  return new Date(Date.UTC(2025, 1, 19) + minutes * minute);
}

function cursorAt(minutes: number): Cursor {
  return { updatedAt: at(minutes).toISOString() };
}

function item(text: string): PolledItem {
  return { id: text, updatedAt: at(Number(text.slice(1))).toISOString(), finished: text.startsWith("f") };
}

function polled({ id, minute: minutes, finished }: { id: string; minute: number; finished: boolean }): PolledItem {
  return { id, updatedAt: at(minutes).toISOString(), finished };
}

function shown({ updatedAt, id }: Cursor): string {
  const minutes = (instantMs(updatedAt) - at(0).getTime()) / minute;
  return [minutes, id].filter((part) => part !== undefined).join(" ");
}
