import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isBehind, type Position, SortedList } from "./sorted-list.ts";

describe("a sorted list", () => {
  it("has the order, the pages and the counts of a sorted array after any additions and removals", () => {
    const position = fc.record({ sec: fc.integer({ min: 0, max: 20 }), key: fc.integer({ max: 99 }).map(String) });
    const steps = fc.array(fc.record({ adds: fc.boolean(), position }), { maxLength: 2_000, size: "max" });
    fc.assert(
      fc.property(steps, position, fc.integer({ min: 1, max: 50 }), (made, from, count) => {
        const list = new SortedList<Position>(({ sec }) => sec);
        let model: Position[] = [];
        for (const { adds, position: at } of made) {
          const others = model.filter((item) => isBehind(item, at) || isBehind(at, item));
          if (adds && others.length === model.length) list.add(at);
          if (!adds) list.remove(at);
          model = adds ? [...others, at] : others;
        }
        model.sort((one, other) => (isBehind(one, other) ? 1 : -1));

        expect(list.size).toBe(model.length);
        expect(list.after(undefined, model.length)).toEqual(model);
        const behind = model.filter((item) => isBehind(item, from));
        expect(list.after(from, count)).toEqual(behind.slice(0, count));
        expect(list.countBefore(from)).toBe(model.filter((item) => isBehind(from, item)).length);
      }),
      { numRuns: 50 },
    );
  });

  it("splits and empties its chunks", () => {
    const list = new SortedList<Position>(({ sec }) => sec);
    const items = Array.from({ length: 5_000 }, (_, sec) => ({ sec, key: "a" }));

    for (const item of items) list.add(item);
    for (const item of items.slice(100)) list.remove(item);

    expect(list.after(undefined, 5_000)).toEqual(items.slice(0, 100).reverse());
  });
});
