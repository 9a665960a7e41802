import { expect, it } from "vitest";
import { findToken } from "./gateway-preview.ts";

it.each([
  ["one sender", "a TOKEN-A", "TOKEN-A"],
  ["several in one line, as in the configuration", "a TOKEN-A; b TOKEN-B", "TOKEN-A"],
  ["comments", "# a TOKEN-A\n\n b TOKEN-B\n", "TOKEN-B"],
  ["a sender of another source first", "a TOKEN-A alertmanager; b TOKEN-B grafana,generic", "TOKEN-B"],
  ["no sender of the source", "a TOKEN-A alertmanager", ""],
  ["nothing", "", ""],
])("the token for a preview of generic, of %s", (_what, lines, expected) => {
  expect(findToken(lines, "generic")).toBe(expected);
});
