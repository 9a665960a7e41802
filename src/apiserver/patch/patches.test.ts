import { describe, expect, it } from "vitest";
import { applyJsonPatch } from "./json-patch.ts";
import { applyMergePatch, applyStrategicMergePatch } from "./merge-patch.ts";

describe("a JSON patch", () => {
  it.each([
    ["adds a field", [{ op: "add", path: "/b", value: 2 }], { a: [1, 2], b: 2 }],
    ["appends to a list", [{ op: "add", path: "/a/-", value: 3 }], { a: [1, 2, 3] }],
    ["inserts into a list", [{ op: "add", path: "/a/1", value: 9 }], { a: [1, 9, 2] }],
    ["removes from a list", [{ op: "remove", path: "/a/0" }], { a: [2] }],
    ["replaces a field that is absent", [{ op: "replace", path: "/b", value: 1 }], { a: [1, 2], b: 1 }],
    ["copies", [{ op: "copy", from: "/a", path: "/b" }], { a: [1, 2], b: [1, 2] }],
    ["moves", [{ op: "move", from: "/a", path: "/b" }], { b: [1, 2] }],
    ["replaces everything", [{ op: "replace", path: "", value: { c: 3 } }], { c: 3 }],
    ["reads escapes", [{ op: "add", path: "/x~1y~0z", value: 1 }], { a: [1, 2], "x/y~z": 1 }],
    ["does nothing after a test that passes", [{ op: "test", path: "/a/1", value: 2 }], { a: [1, 2] }],
  ])("%s", (_what, operations, expected) => {
    expect(applyJsonPatch({ a: [1, 2] }, operations)).toEqual(expected);
  });

  it.each([
    [{ op: "test", path: "/a/1", value: 3 }],
    [{ op: "test", path: "/b", value: 3 }],
    [{ op: "remove", path: "/b" }],
    [{ op: "add", path: "/b/c", value: 1 }],
    [{ op: "add", path: "/a/9", value: 1 }],
    [{ op: "replace", path: "/a/2", value: 1 }],
    [{ op: "add", path: "/a/01", value: 1 }],
    [{ op: "add", path: "b", value: 1 }],
    [{ op: "add", path: "/__proto__/x", value: 1 }],
    [{ op: "add", path: "/__proto__", value: {} }],
    [{ op: "copy", path: "/b" }],
    [{ op: "frob", path: "/a" }],
    ["nothing"],
  ])("is refused when it does not fit: %j", (operation) => {
    expect(() => applyJsonPatch({ a: [1, 2] }, [operation])).toThrow("rejected our request");
  });
});

describe("a merge patch", () => {
  it("sets, removes and replaces", () => {
    const patched = applyMergePatch({ a: { x: 1, y: 2 }, l: [1, 2], k: 1 }, { a: { x: null, z: 3 }, l: [3] });

    expect(patched).toEqual({ a: { y: 2, z: 3 }, l: [3], k: 1 });
  });

  it("leaves the target unchanged, and shares the fields that the patch does not mention", () => {
    const target = { a: { x: 1 }, b: { y: 2 } };

    const patched = applyMergePatch(target, { a: { x: 3 } }) as typeof target;

    expect(target).toEqual({ a: { x: 1 }, b: { y: 2 } });
    expect(patched.b).toBe(target.b);
  });
});

describe("a strategic merge patch", () => {
  it.each([
    ["merges finalizers, new ones first", { finalizers: ["a"] }, { finalizers: ["b"] }, { finalizers: ["b", "a"] }],
    [
      "deletes from a list of texts",
      { finalizers: ["a", "b"] },
      { "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["b"] },
    ],
    ["replaces a map", { data: { a: 1 } }, { data: { $patch: "replace", b: 2 } }, { data: { b: 2 } }],
    ["replaces a list without a key", { args: ["a"] }, { args: ["b"] }, { args: ["b"] }],
    [
      "merges containers by name",
      {
        containers: [
          { name: "a", image: "1" },
          { name: "b", image: "1" },
        ],
      },
      { containers: [{ name: "b", image: "2" }] },
      {
        containers: [
          { name: "a", image: "1" },
          { name: "b", image: "2" },
        ],
      },
    ],
    [
      "deletes one element",
      { ownerReferences: [{ uid: "1" }, { uid: "2" }] },
      { ownerReferences: [{ $patch: "delete", uid: "1" }] },
      { ownerReferences: [{ uid: "2" }] },
    ],
    [
      "puts elements in an order",
      { env: [{ name: "a" }, { name: "b" }] },
      { "$setElementOrder/env": [{ name: "b" }, { name: "a" }] },
      { env: [{ name: "b" }, { name: "a" }] },
    ],
  ])("%s", (_what, target, patch, expected) => {
    expect(applyStrategicMergePatch(target, patch)).toEqual(expected);
  });
});
