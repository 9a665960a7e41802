import { describe, expect, it } from "vitest";
import { fenceAnnotation, fenceOf } from "./kubernetes.ts";

describe("the fence of a Kubernetes object", () => {
  it("is exact beyond the precision of a float", () => {
    expect(fenceOf(fenced("9007199254740993"))).toBe(9007199254740993n);
  });

  it("is undefined if the object was never written under a fence", () => {
    expect(fenceOf({ kind: "Note", metadata: { name: "a" } })).toBeUndefined();
  });

  it.each(["", "-1", "1.5", "seven", "9".repeat(41)])("cannot be read from %j, which is an error", (text) => {
    expect(() => fenceOf(fenced(text))).toThrow(expect.objectContaining({ code: "collision" }));
  });
});

function fenced(text: string) {
  return { kind: "Note", metadata: { name: "a", annotations: { [fenceAnnotation]: text } } };
}
