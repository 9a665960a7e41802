import { describe, expect, it } from "vitest";
import { overlaps, type Testimony } from "./step-witness.ts";

describe("the reports of steps", () => {
  it("is in order when each ends before the next begins on its target", () => {
    const testimony = [start("a", "x", 1), start("b", "y", 2), end("a", "x", 1), start("c", "x", 3), end("b", "y", 2)];

    expect(overlaps(testimony)).toEqual([]);
  });

  it("shows two at work on one target", () => {
    const testimony = [start("a", "x", 1), start("b", "x", 2), end("a", "x", 1), end("b", "x", 2)];

    expect(overlaps(testimony)).toEqual(["b began on x while a was at work"]);
  });

  it("shows one that began with the fence of an earlier holder", () => {
    const testimony = [start("a", "x", 5), end("a", "x", 5), start("b", "x", 5), end("b", "x", 5)];

    expect(overlaps(testimony)).toEqual(["b began on x with an old fence"]);
  });
});

function start(executionUid: string, target: string, fence: number): Testimony {
  return { reported: "start", executionUid, target, fence: String(fence), pid: 1 };
}

function end(executionUid: string, target: string, fence: number): Testimony {
  return { ...start(executionUid, target, fence), reported: "end" };
}
