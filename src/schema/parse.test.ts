import { describe, expect, it } from "vitest";
import { z } from "./index.ts";
import { parse } from "./parse.ts";

const schema = z.strictObject({
  name: z.string().min(1),
  mode: z.enum(["fast", "safe"]).optional(),
  values: z.union([z.string(), z.array(z.string())], { error: "must be text or a list of texts" }).optional(),
  words: z.array(z.string()).max(2).optional(),
});

describe("a value from outside", () => {
  it.each<[string, unknown, readonly string[]]>([
    ["is of another type", [], ["the object must be an object, not a list"]],
    ["lacks a field", {}, ["name is missing"]],
    ["has an empty text", { name: "" }, ["name must not be empty"]],
    ["has a value that is not allowed", { name: "a", mode: "slow" }, ["mode must be one of fast, safe"]],
    ["has a misspelt field", { name: "a", mod: "fast" }, ["mod is not a known field; did you mean mode?"]],
    [
      "has an unknown field",
      { name: "a", color: 1 },
      ["color is not a known field; there is name, mode, values, words"],
    ],
    ["fits no alternative", { name: "a", values: 1 }, ["values must be text or a list of texts"]],
    ["almost fits one alternative", { name: "a", values: ["a", 1] }, ["values[1] must be text, not a number"]],
    ["has a long text in place of a list", { name: "a", words: "a b c" }, ["words must be a list, not text"]],
    ["has several problems", { mode: 1, x: 1 }, ["name is missing", "mode must be one of fast, safe", "x is not a"]],
  ])("that %s is refused with path and problem", (_what, value, problems) => {
    const parsed = parse(schema, value);

    const found = parsed.kind === "invalid" ? parsed.problems.map(({ sentence }) => sentence) : [];
    expect(found).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });

  it("is never repeated in a problem", () => {
    const parsed = parse(schema, { name: ["hunter2"], mode: "hunter2", values: { hunter2: "hunter2" } });

    expect(JSON.stringify(parsed)).not.toContain("hunter2");
  });
});
