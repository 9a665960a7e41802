import { describe, expect, it } from "vitest";
import { z } from "zod";
import { immutable } from "./rules.ts";
import { structuralSchema } from "./structural-schema.ts";

describe("a structural schema", () => {
  it("keeps types, limits, descriptions and defaults, and allows other properties", () => {
    const schema = z.strictObject({
      name: z.string().min(1).max(63).describe("A name."),
      size: z.int().min(1).describe("A size."),
      share: z.number().gt(0).lt(1).describe("A share."),
      mode: z.enum(["auto", "manual"]).default("auto").describe("A mode."),
      on: z.literal(true).describe("Always on.").optional(),
    });

    expect(structuralSchema(schema)).toEqual({
      type: "object",
      required: ["name", "size", "share"],
      properties: {
        name: { description: "A name.", type: "string", minLength: 1, maxLength: 63 },
        size: { description: "A size.", type: "integer", minimum: 1 },
        share: {
          description: "A share.",
          type: "number",
          minimum: 0,
          exclusiveMinimum: true,
          maximum: 1,
          exclusiveMaximum: true,
        },
        mode: { description: "A mode.", type: "string", enum: ["auto", "manual"], default: "auto" },
        on: { description: "Always on.", type: "boolean", enum: [true] },
      },
    });
  });

  it("has no pattern for times, whose format the server checks", () => {
    expect(structuralSchema(z.iso.datetime({ offset: true }))).toEqual({ type: "string", format: "date-time" });
  });

  it("has maps as additional properties", () => {
    expect(structuralSchema(z.record(z.string(), z.string()))).toEqual({
      type: "object",
      additionalProperties: { type: "string" },
    });
  });

  it("accepts anything where the schema allows it", () => {
    const anything = z.union([z.string(), z.number()]).meta({ "x-kubernetes-preserve-unknown-fields": true });

    expect(structuralSchema(z.array(anything))).toEqual({
      type: "array",
      items: { "x-kubernetes-preserve-unknown-fields": true },
    });
  });

  it("merges the variants of a union, with a rule for the required fields of each", () => {
    const at = z.string();
    const schema = z
      .discriminatedUnion("phase", [
        z.strictObject({ phase: z.literal("Waiting").describe("Where it stands.") }),
        z.strictObject({
          phase: z.enum(["Done", "Gone"]),
          at,
          outcome: z.literal("Good"),
          note: z.string().optional(),
        }),
        z.strictObject({ phase: z.literal("Bad"), at, outcome: z.literal("Bad").optional() }),
      ])
      .meta({ description: "A status.", "x-kubernetes-validations": [immutable("it stays")] });

    expect(structuralSchema(schema)).toEqual({
      description: "A status.",
      type: "object",
      "x-kubernetes-validations": [
        { rule: "self == oldSelf", message: "it stays" },
        {
          rule: "!(self.phase in ['Done', 'Gone']) || (has(self.at) && has(self.outcome) && self.outcome == 'Good')",
          message: "phase Done or Gone needs at and outcome Good",
        },
        {
          rule: "!(self.phase == 'Bad') || (has(self.at) && (!has(self.outcome) || self.outcome == 'Bad'))",
          message: "phase Bad needs at and outcome Bad",
        },
      ],
      required: ["phase"],
      properties: {
        phase: { description: "Where it stands.", type: "string", enum: ["Waiting", "Done", "Gone", "Bad"] },
        at: { type: "string" },
        outcome: { type: "string", enum: ["Good", "Bad"] },
        note: { type: "string" },
      },
    });
  });

  it.each<[string, z.ZodType, string]>([
    ["a value of any type", z.strictObject({ a: z.unknown() }), ".a: has no type"],
    ["alternatives of different types", z.union([z.string(), z.number()]), "a union has no common field"],
    ["a null", z.string().nullable(), 'Kubernetes has no "nullable"'],
    [
      "a keyword that Kubernetes does not support",
      z.strictObject({ a: z.string().meta({ deprecated: true }) }),
      'Kubernetes has no "deprecated"',
    ],
    [
      "a field with two shapes",
      z.discriminatedUnion("t", [
        z.strictObject({ t: z.literal("a"), v: z.string() }),
        z.strictObject({ t: z.literal("b"), v: z.number() }),
      ]),
      ".v: differs between the variants",
    ],
    [
      "a field that CEL cannot name",
      z.discriminatedUnion("t", [
        z.strictObject({ t: z.literal("a"), namespace: z.string() }),
        z.strictObject({ t: z.literal("b") }),
      ]),
      'CEL cannot name the field "namespace"',
    ],
  ])("cannot hold %s", (_what, schema, problem) => {
    expect(() => structuralSchema(schema)).toThrow(problem);
  });
});
