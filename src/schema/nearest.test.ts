import { describe, expect, it } from "vitest";
import { nearest } from "./nearest.ts";

describe("the nearest name", () => {
  it.each([
    ["ulr", "url"],
    ["lock", "locks"],
    ["namspace", "namespace"],
    ["done_ttl", "doneTtl"],
    ["REVIEW-DONE-TTL", "reviewDoneTtl"],
  ])("to %s is %s", (word, name) => {
    expect(nearest(word, ["url", "locks", "namespace", "doneTtl", "reviewDoneTtl"])).toBe(name);
  });

  it.each(["", "x", "hunter2", "password"])("is unknown when %j is like none of them", (word) => {
    expect(nearest(word, ["url", "backend"])).toBeUndefined();
  });

  it("is the closest of several", () => {
    expect(nearest("wait", ["await", "wat", "wait"])).toBe("wait");
  });
});
