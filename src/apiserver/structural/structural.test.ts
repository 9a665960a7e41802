import { describe, expect, it } from "vitest";
import type { StructuralSchema } from "../../kube/index.ts";
import { Compiled } from "./compiled.ts";
import { prune } from "./decode.ts";
import { applyDefaults } from "./defaults.ts";
import { ruleMistake, ruleProblems } from "./rules.ts";
import { schemaProblems } from "./validate.ts";

const schema: StructuralSchema = {
  type: "object",
  properties: {
    size: { type: "integer", default: 1 },
    note: { type: "string", nullable: true },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { known: { type: "integer" } } },
    labels: {
      type: "object",
      additionalProperties: { type: "object", properties: { a: { type: "string", default: "x" } } },
    },
    steps: {
      type: "array",
      items: { type: "object", properties: { name: { type: "string" }, n: { type: "integer", default: 2 } } },
    },
  },
};

describe("pruning", () => {
  it("removes fields that are not in the schema, and lists them", () => {
    const value = {
      size: 1,
      odd: 1,
      free: { anything: { goes: 1 } },
      labels: { l: { a: "1", b: 2 } },
      steps: [{ nope: 1 }],
    };
    const unknown: string[] = [];

    prune(value, schema, "", unknown);

    expect(value).toEqual({ size: 1, free: { anything: { goes: 1 } }, labels: { l: { a: "1" } }, steps: [{}] });
    expect(unknown).toEqual(["odd", "labels.l.b", "steps[0].nope"]);
  });
});

describe("defaults", () => {
  it.each([
    [{}, { size: 1 }],
    [{ size: null }, { size: 1 }],
    [
      { size: 5, note: null },
      { size: 5, note: null },
    ],
    [{ size: 5, free: null }, { size: 5 }],
    [
      { size: 5, steps: [{}] },
      { size: 5, steps: [{ n: 2 }] },
    ],
    [
      { size: 5, labels: { l: {} } },
      { size: 5, labels: { l: { a: "x" } } },
    ],
  ])("make %j into %j", (value, expected) => {
    applyDefaults(value, schema);

    expect(value).toEqual(expected);
  });
});

describe("validation", () => {
  it.each<[StructuralSchema, unknown, string | undefined]>([
    [{ type: "string" }, 1, 'Invalid value: "integer": x in body must be of type string: "integer"'],
    [{ type: "integer" }, 1.5, 'Invalid value: "number": x in body must be of type integer: "number"'],
    [{ type: "number" }, 1, undefined],
    [
      { "x-kubernetes-int-or-string": true },
      true,
      'Invalid value: "boolean": x in body must be of type integer,string: "boolean"',
    ],
    [{ type: "string", enum: ["a", "b"] }, "c", 'Unsupported value: "c": supported values: "a", "b"'],
    [{ type: "string", maxLength: 2 }, "😀😀", undefined],
    [{ type: "string", maxLength: 1 }, "😀😀", "Too long: may not be more than 1 bytes"],
    [{ type: "string", pattern: "^a$" }, "b", "Invalid value: \"b\": x in body should match '^a$'"],
    [
      { type: "string", format: "date-time" },
      "2024-13-01T00:00:00Z",
      'Invalid value: "2024-13-01T00:00:00Z": x in body must be of type date-time: "2024-13-01T00:00:00Z"',
    ],
    [
      { type: "integer", minimum: 1, exclusiveMinimum: true },
      1,
      "Invalid value: 1: x in body should be greater than 1",
    ],
    [{ type: "array", maxItems: 1 }, [1, 2], "Too many: 2: must have at most 1 items"],
    [{ type: "object", required: ["a"] }, {}, "Required value"],
    [{ anyOf: [{ type: "string" }, { type: "integer" }] }, "a", undefined],
    [{ not: { type: "string" } }, "a", 'Invalid value: "a": x in body must not validate the schema (not)'],
  ])("of %j finds with %j: %s", (one, value, message) => {
    expect(schemaProblems(value, one, { path: "x" })[0]?.message).toBe(message);
  });
});

it("an integer may be larger than a number can hold", () => {
  expect(schemaProblems(9007199254740993n, { type: "integer" })).toEqual([]);
});

describe("a CEL rule", () => {
  it.each<[string, unknown, unknown, boolean]>([
    ["self.min <= self.max", { min: 1, max: 2 }, undefined, true],
    ["self.min <= self.max", { min: 3, max: 2 }, undefined, false],
    ["self == oldSelf", { min: 1 }, { min: 1 }, true],
    ["self == oldSelf", { min: 2 }, { min: 1 }, false],
    ["self == oldSelf", { min: 2 }, undefined, true],
    ["self.names.all(n, n.startsWith('app-'))", { names: ["app-a", "b"] }, undefined, false],
    ["has(self.max)", {}, undefined, false],
  ])("%s holds for %j after %j: %s", (rule, value, old, holds) => {
    expect(ruleProblems(new Compiled(), { schema: withRule(rule), value, old }).length === 0).toBe(holds);
  });

  it("is checked in nested values, whose list elements are matched by their keys", () => {
    const list: StructuralSchema = {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { ...withRule("self.v >= oldSelf.v") },
    };
    const before = [
      { name: "a", v: 5 },
      { name: "b", v: 1 },
    ];

    const after = [
      { name: "b", v: 2 },
      { name: "a", v: 4 },
      { name: "new", v: 0 },
    ];
    const schema: StructuralSchema = { type: "object", properties: { steps: list } };
    const change = { schema, value: { steps: after }, old: { steps: before } };

    const problems = ruleProblems(new Compiled(), change);

    expect(problems.map(({ field }) => field)).toEqual(["steps[1]"]);
  });

  it.each([
    ["self.nope > 1", "undefined field 'nope'"],
    ["self.min +", "compilation failed"],
    ["nosuch(self)", "compilation failed"],
    ["self.min > 1", undefined],
    ["self == oldSelf", undefined],
  ])("%s is compiled when its definition is written: %s", (rule, mistake) => {
    const found = ruleMistake({ rule }, withRule(rule));

    if (mistake === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(mistake);
  });
});

function withRule(rule: string): StructuralSchema {
  const integer: StructuralSchema = { type: "integer" };
  return {
    type: "object",
    properties: {
      min: integer,
      max: integer,
      v: integer,
      name: { type: "string" },
      names: { type: "array", items: { type: "string" } },
    },
    "x-kubernetes-validations": [{ rule }],
  };
}
