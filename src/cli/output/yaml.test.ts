import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { yamlLines } from "./yaml.ts";

describe("YAML output", () => {
  it("writes mappings and lists in blocks, as kubectl does", () => {
    const data = { kind: "List", items: [{ metadata: { name: "a", labels: {} }, ports: [] }, { metadata: {} }] };

    expect(yamlLines(data)).toEqual([
      "kind: List",
      "items:",
      "- metadata:",
      "    name: a",
      "    labels: {}",
      "  ports: []",
      "- metadata: {}",
    ]);
  });

  it.each([
    "true",
    "No",
    "null",
    "~",
    "2026-03-01",
    "1e3",
    "E0",
    "e-5",
    "0x1f",
    "a: b",
    "a #b",
    "- a",
    "",
    " a",
    "a\nb",
    "*a",
    "y",
  ])("quotes %j, which YAML would not read as this text", (text) => {
    expect(yamlLines(text)).toEqual([JSON.stringify(text)]);
  });

  it("is parsed to the same data", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const expected = JSON.parse(JSON.stringify(data));

        expect(parse(yamlLines(data).join("\n"))).toEqual(expected);
        expect(parse(yamlLines(data).join("\n"), { version: "1.1" })).toEqual(expected);
      }),
    );
  });
});
