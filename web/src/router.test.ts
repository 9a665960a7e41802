import { describe, expect, it } from "vitest";
import { matchPath, targetPath } from "./router.ts";

describe("matchPath", () => {
  it.each([
    ["/", "/", {}],
    ["/pauses", "/pauses/", {}],
    ["/incidents/:namespace/:name", "/incidents/payment/rr-1", { namespace: "payment", name: "rr-1" }],
    ["/incidents/:namespace/:name", "/incidents/payment/a%2Fb", { namespace: "payment", name: "a/b" }],
    ["/incidents/:namespace/:name", "/incidents/payment", undefined],
    ["/incidents/:namespace/:name", "/incidents//rr-1", undefined],
    ["/incidents/:namespace/:name", "/incidents/payment/%", undefined],
    ["/incidents", "/executions", undefined],
  ])("%s and %s: %j", (pattern, path, expected) => {
    expect(matchPath(pattern, path)).toEqual(expected);
  });
});

it("keeps the slashes of a target out of the path", () => {
  expect(targetPath("git:host/7@main")).toBe("/target?target=git%3Ahost%2F7%40main");
});
