import { describe, expect, it } from "vitest";
import type { RemediationWorkflowSpec, WorkflowParameter } from "../kinds/remediation-workflow.ts";
import type { ParameterValue } from "../kinds/schemas/fields.ts";
import { checkParameters } from "./check-parameters.ts";

const schema: RemediationWorkflowSpec["parameters"] = {
  properties: {
    keep: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    mode: { type: "string", enum: ["safe", "fast"] },
    paths: { type: "array", pattern: "^/", minItems: 1 },
  },
  required: ["mode"],
};

describe("parameters", () => {
  it("are complete when they are valid: absent ones have their defaults", () => {
    expect(checkParameters(schema, { mode: "safe" })).toEqual({ kind: "valid", parameters: { keep: 3, mode: "safe" } });
  });

  it("are refused with all problems at once, without repeating a value", () => {
    expect(checkParameters(schema, { keep: 10, paths: ["/a", "b"], password: "hunter2" })).toEqual({
      kind: "invalid",
      problems: [
        "password is not a parameter of this workflow, which takes keep, mode, paths",
        "keep must be at most 9",
        "mode is missing",
        "paths must match ^/, each entry",
      ],
    });
  });

  it("are refused by a workflow that takes none", () => {
    expect(checkParameters(undefined, { keep: 1 })).toEqual({
      kind: "invalid",
      problems: ["keep is not a parameter of this workflow, which takes none"],
    });
    expect(checkParameters(undefined, {})).toEqual({ kind: "valid", parameters: {} });
  });

  it("may have names of inherited properties", () => {
    const named = { properties: { constructor: { type: "string" } as const }, required: ["constructor"] };

    expect(checkParameters(named, {})).toEqual({ kind: "invalid", problems: ["constructor is missing"] });
    expect(checkParameters({ properties: {} }, { toString: "x" } as Record<string, ParameterValue>).kind).toBe(
      "invalid",
    );
  });

  it("may have the value false", () => {
    const parameters = { properties: { force: { type: "boolean", default: true } as const } };

    expect(checkParameters(parameters, { force: false })).toEqual({ kind: "valid", parameters: { force: false } });
  });

  it.each<[WorkflowParameter, ParameterValue, string | undefined]>([
    [{ type: "string" }, "x", undefined],
    [{ type: "string" }, 3, "must be text"],
    [{ type: "string" }, true, "must be text, not true or false"],
    [{ type: "string" }, ["x"], "must be text, not a list"],
    [{ type: "string", minLength: 2 }, "x", "must have at least 2 characters"],
    [{ type: "string", maxLength: 1 }, "😀", undefined],
    [{ type: "string", maxLength: 1 }, "ab", "must have at most 1 characters"],
    [{ type: "string", pattern: "^[a-z]+$" }, "a1", "must match ^[a-z]+$"],
    [{ type: "string", pattern: "(" }, "a", "must match ("],
    [{ type: "string" }, "a\0b", "must not contain the character NUL, which no program can receive"],
    [{ type: "array" }, ["a", "\0"], "must not contain the character NUL, which no program can receive"],
    [{ type: "string", enum: ["a", "b"] }, "c", 'must be one of "a", "b"'],
    [{ type: "integer" }, 3, undefined],
    [{ type: "integer" }, 3.5, "must be a whole number"],
    [{ type: "integer" }, "3", "must be a whole number, not text"],
    [{ type: "integer", minimum: 1 }, 0, "must be at least 1"],
    [{ type: "integer", minimum: 1 }, 1, undefined],
    [{ type: "number", maximum: 0.5 }, 0.5, undefined],
    [{ type: "number", maximum: 0.5 }, 0.6, "must be at most 0.5"],
    [{ type: "number" }, Number.POSITIVE_INFINITY, "must be a number"],
    [{ type: "number", enum: [1, 2] }, 3, "must be one of 1, 2"],
    [{ type: "boolean" }, "true", "must be true or false, not text"],
    [{ type: "array" }, ["a"], undefined],
    [{ type: "array" }, "a", "must be a list of texts, not text"],
    [{ type: "array", maxItems: 1 }, ["a", "b"], "must have at most 1 entries"],
  ])("of %j: %j has the problem %j", (parameter, value, problem) => {
    const checked = checkParameters({ properties: { x: parameter } }, { x: value });

    expect(checked).toEqual(
      problem ? { kind: "invalid", problems: [`x ${problem}`] } : { kind: "valid", parameters: { x: value } },
    );
  });
});
