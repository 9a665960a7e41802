import { describe, expect, it } from "vitest";
import { age } from "./column.ts";
import { jsonPath } from "./json-path.ts";

describe("an age", () => {
  it.each([
    [0, "0s"],
    [119, "119s"],
    [120, "2m"],
    [200, "3m20s"],
    [3_600, "60m"],
    [4 * 3_600 + 300, "4h5m"],
    [30 * 3_600, "30h"],
    [3 * 86_400 + 7_200, "3d2h"],
    [400 * 86_400, "400d"],
    [3 * 365 * 86_400, "3y"],
    [-5, "<invalid>"],
  ])("of %i seconds is %s", (seconds, text) => {
    const now = Date.UTC(2024, 4, 1);

    expect(age(new Date(now - seconds * 1_000).toISOString(), now)).toBe(text);
  });

  it("of no time is undefined", () => {
    expect(age(undefined, 0)).toBeUndefined();
  });
});

describe("a JSON path", () => {
  const object = {
    spec: { a: 1, "x.y": 2 },
    items: [
      { type: "A", v: 1 },
      { type: "Ready", v: 2 },
    ],
  };

  it.each([
    [".spec.a", [1]],
    ["{.spec.a}", [1]],
    [".spec.nope.deeper", []],
    [".items[0].v", [1]],
    [".items[-1].v", [2]],
    [".items[*].type", ["A", "Ready"]],
    ['.items[?(@.type=="Ready")].v', [2]],
    [".spec['x.y']", [2]],
    [".spec.x\\.y", [2]],
  ])("%s finds %j", (path, found) => {
    expect(jsonPath(path)(object)).toEqual(found);
  });

  it.each(["spec", ".a[", ".a[?(@.b>1)]", "..a"])("%s is refused", (path) => {
    expect(() => jsonPath(path)).toThrow(SyntaxError);
  });
});
