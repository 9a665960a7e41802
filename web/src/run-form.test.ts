import { describe, expect, it } from "vitest";
import type { WorkflowParameter } from "../../src/console/wire.ts";
import { type CatalogWorkflow, initialValues, parameterHint, runRequest, withoutSecrets } from "./run-form.ts";

describe("the form to run a workflow", () => {
  it("starts with the defaults, but shows none of a secret", () => {
    const clean = workflow([
      { name: "keepDays", type: "string", required: false, default: "7" },
      { name: "token", type: "string", required: true, default: "t0p", isSecret: true },
      { name: "force", type: "boolean", required: false },
    ]);

    expect(initialValues(clean)).toEqual({ target: "", parameters: { keepDays: "7", token: "", force: "" } });
  });

  it("sends only the parameters that differ from their defaults", () => {
    const clean = workflow([
      { name: "keepDays", type: "string", required: false, default: "7" },
      { name: "paths", type: "array", required: false },
      { name: "force", type: "boolean", required: false, default: "false" },
    ]);

    const request = runRequest(clean, {
      target: " node/worker-1 ",
      parameters: { keepDays: "7", paths: "", force: "true" },
    });

    expect(request).toEqual({ workflow: "clean", target: "node/worker-1", parameters: { force: "true" } });
  });

  it("has no parameters for a workflow that takes none", () => {
    expect(runRequest(workflow([]), { target: "node/a", parameters: {} })).toEqual({
      workflow: "clean",
      target: "node/a",
    });
  });

  it("shows no secret in the command line", () => {
    const clean = workflow([
      { name: "token", type: "string", required: true, isSecret: true },
      { name: "user", type: "string", required: true },
    ]);

    const request = runRequest(clean, { target: "node/a", parameters: { token: "t0p", user: "ann" } });

    expect(request.parameters).toEqual({ token: "t0p", user: "ann" });
    expect(withoutSecrets(clean, request).parameters).toEqual({ token: "SECRET", user: "ann" });
  });
});

it.each<[Partial<WorkflowParameter>, string]>([
  [{}, ""],
  [{ default: "7", pattern: "^[0-9]+$" }, "must match ^[0-9]+$; default 7"],
  [{ type: "array" }, "several values, separated by commas"],
  [{ isSecret: true, default: "t0p" }, "secret"],
])("the hint of a parameter %j is %j", (part, expected) => {
  expect(parameterHint({ name: "p", type: "string", required: false, ...part })).toBe(expected);
});

function workflow(parameters: readonly WorkflowParameter[]): CatalogWorkflow {
  return { id: "clean", version: "1.0.0", engine: "local", needsApproval: false, parameters };
}
