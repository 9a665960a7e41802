import { describe, expect, it } from "vitest";
import { attributeSource, canPost } from "./attribute-source.ts";

const builtIn = new Set(["alertmanager", "generic", "kubernetes-events", "kubernetes-nodes"]);
const route = { own: "generic", builtIn };

describe("the source of a signal on the generic route", () => {
  it.each([
    ["any token, without a source in the payload", undefined, "generic", "generic"],
    ["any token, with a source of its own", undefined, "watchman", "watchman"],
    ["any token, with a built-in source", undefined, "alertmanager", undefined],
    ["any token, with a source that only watches have", undefined, "kubernetes-nodes", undefined],
    ["any token, with a built-in source in capitals", undefined, "Alertmanager", undefined],
    ["any token, with a built-in source and invisible characters", undefined, " alert\u200bmanager\u202c", undefined],
    ["any token, with a built-in source in wide letters", undefined, "ａｌｅｒｔｍａｎａｇｅｒ", undefined],
    ["a token for generic", ["generic"], "generic", "generic"],
    ["a token for generic, with another source", ["generic"], "watchman", undefined],
    ["a token for generic, with a built-in source", ["generic"], "alertmanager", undefined],
    ["a token that lists the source", ["generic", "watchman"], "watchman", "watchman"],
    [
      "a token that lists a built-in source, which has its own route",
      ["generic", "alertmanager"],
      "alertmanager",
      undefined,
    ],
    ["a token for one source of its own, without a source in the payload", ["watchman"], "generic", "watchman"],
    ["a token for another source", ["watchman"], "other", undefined],
  ])("with %s", (_what, sources, named, expected) => {
    const attribution = attributeSource({ source: named }, { name: "sender", sources }, route);

    expect(attribution).toMatchObject(
      expected === undefined ? { kind: "forbidden" } : { kind: "source", source: expected },
    );
  });
});

describe("a token", () => {
  it.each([
    [undefined, "alertmanager", true],
    [["alertmanager"], "alertmanager", true],
    [["generic"], "alertmanager", false],
    [["watchman"], "alertmanager", false],
    [["watchman"], "generic", true],
    [["alertmanager"], "generic", false],
  ])("for %s may post on the route of %s: %s", (sources, own, expected) => {
    expect(canPost({ name: "sender", sources }, { own, builtIn })).toBe(expected);
  });
});
