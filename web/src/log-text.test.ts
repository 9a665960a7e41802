import { expect, it } from "vitest";
import { plainText } from "./log-text.ts";

it.each([
  ["plain", "plain"],
  ["\u001b[31mred\u001b[0m", "red"],
  ["\u001b]0;title\u0007text", "text"],
  ["a\u001b[2Kb", "ab"],
  ["a\tb", "a\tb"],
  ["a\u0000b\u202ec", "a\\u0000b\\u202ec"],
])("shows %j as %j", (line, expected) => {
  expect(plainText(line)).toBe(expected);
});
