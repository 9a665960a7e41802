import { expect, it } from "vitest";
import { parseJson } from "./parse-json.ts";

it.each([
  ["plain", "plain"],
  ["שלום", "שלום"],
  ["evil\u202egnp.exe", "evil\\u202egnp.exe"],
  ["a\u2066b\u2069c\u061cd\u200fe", "a\\u2066b\\u2069c\\u061cd\\u200fe"],
  ['quoted "\u202e" \\ ', 'quoted "\\u202e" \\ '],
])("shows %j as %j", (text, expected) => {
  expect(parseJson(JSON.stringify({ text }))).toEqual({ text: expected });
});
