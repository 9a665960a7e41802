import { describe, expect, it } from "vitest";
import { describePatch, threeWayPatch } from "./three-way-patch.ts";

describe("a three-way patch", () => {
  it.each([
    ["is empty where nothing differs", {}, { a: 1 }, { a: 1 }, {}],
    ["sets what differs", { a: 1 }, { a: 2 }, { a: 1 }, { a: 2 }],
    ["sets back what another tool has changed", { a: 1 }, { a: 1 }, { a: 5 }, { a: 1 }],
    [
      "removes fields that were applied before and are no longer desired",
      { a: 1, b: { c: 1 } },
      { a: 1 },
      { a: 1, b: { c: 1 } },
      { b: null },
    ],
    ["keeps what only the server or another tool has set", { a: 1 }, { a: 1 }, { a: 1, other: { x: 1 } }, {}],
    ["changes only the fields of an object that differ", {}, { a: { b: 2 } }, { a: { b: 1, c: 1 } }, { a: { b: 2 } }],
    [
      "ignores fields that the server adds to items of a list",
      {},
      { l: [{ a: 1 }] },
      { l: [{ a: 1, policy: "Always" }] },
      {},
    ],
    ["replaces a list of which an item differs", {}, { l: [{ a: 2 }] }, { l: [{ a: 1 }] }, { l: [{ a: 2 }] }],
    ["replaces a list that another tool has extended", {}, { l: [1] }, { l: [1, 2] }, { l: [1] }],
    [
      "replaces a list if a field of an item is no longer desired",
      { l: [{ a: 1, b: 1 }] },
      { l: [{ a: 1 }] },
      { l: [{ a: 1, b: 1 }] },
      { l: [{ a: 1 }] },
    ],
    ["takes an empty list or object for a missing one", {}, { l: [], o: {} }, {}, {}],
    ["does not remove what is gone already", { a: 1 }, {}, {}, {}],
    ["keeps what others have set in an object that was applied empty", { o: {} }, {}, { o: { x: 1 } }, {}],
  ])("%s", (_what, last, desired, live, patch) => {
    expect(threeWayPatch({ last, desired, live })).toEqual(patch);
  });

  it("is described by its changed fields", () => {
    const live = { spec: { replicas: 2, paused: true } };

    expect(describePatch({ spec: { replicas: 3, paused: null, image: "a" } }, live)).toEqual([
      "spec.replicas: 2 -> 3",
      "spec.paused: true -> (none)",
      'spec.image: (none) -> "a"',
    ]);
  });
});
