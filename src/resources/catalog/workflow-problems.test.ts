import { describe, expect, it } from "vitest";
import type { RemediationWorkflowSpec, WorkflowParameter } from "../kinds/remediation-workflow.ts";
import { builtInKinds } from "../target/kinds.ts";
import { parseTarget } from "../target/parse-target.ts";
import { targetKindProblem, workflowProblems } from "./workflow-problems.ts";

describe("a workflow", () => {
  it("has no problems if its parts are consistent", () => {
    const keep: WorkflowParameter = { type: "integer", minimum: 1, default: 3, enum: [1, 3, 5] };

    expect(
      workflowProblems(
        spec({ parameters: { properties: { keep }, required: ["keep"] }, targetKinds: ["node"] }),
        builtInKinds,
      ),
    ).toEqual([]);
  });

  it.each<[string, WorkflowParameter, string]>([
    ["a default of another type", { type: "integer", default: "3" }, ".default must be a whole number, not text"],
    ["a default out of bounds", { type: "integer", maximum: 2, default: 3 }, ".default must be at most 2"],
    [
      "a default that is not among its values",
      { type: "string", enum: ["a"], default: "b" },
      '.default must be one of "a"',
    ],
    ["a value that its type does not allow", { type: "string", enum: ["a", 1] }, ".enum[1] must be text"],
    ["a pattern that is none", { type: "string", pattern: "(" }, ".pattern is not a regular expression"],
    ["bounds the wrong way round", { type: "number", minimum: 2, maximum: 1 }, ".minimum is greater than its maximum"],
    ["a bound for another type", { type: "string", minimum: 2 }, ".minimum has no meaning for type string"],
  ])("reports %s with its path", (_what, parameter, problem) => {
    expect(workflowProblems(spec({ parameters: { properties: { keep: parameter } } }), builtInKinds)).toEqual([
      `spec.parameters.properties.keep${problem}`,
    ]);
  });

  it.each<[string, Partial<RemediationWorkflowSpec>, string]>([
    [
      "a required parameter that it does not have",
      { parameters: { properties: {}, required: ["keep"] } },
      "spec.parameters.required[0] names keep, which is not among the properties",
    ],
    [
      "a parameter that every run has",
      { parameters: { properties: { TARGET_RESOURCE: { type: "string" } } } },
      "spec.parameters.properties.TARGET_RESOURCE is given to every run by itself: leave it out",
    ],
    [
      "a parameter of a Job that would become a variable which programs read as code",
      { engine: "job", parameters: { properties: { LD_PRELOAD: { type: "string" }, NODE_NAME: { type: "string" } } } },
      "spec.parameters.properties.LD_PRELOAD becomes a variable that programs read as code: give it another name",
    ],
    [
      "an unknown kind",
      { targetKinds: ["node", "nodde"] },
      'spec.targetKinds[1] is "nodde", which is not a known kind: write kinds that are not built in with their group, as in certificate.cert-manager.io',
    ],
    [
      "arguments that its engine does not pass",
      { engine: "local", args: ["a"] },
      "spec.args has no meaning for the engine local: write them in the pipeline",
    ],
    ["no time to run", { timeout: "0s" }, "spec.timeout must be longer than 0"],
  ])("reports %s", (_what, special, problem) => {
    expect(workflowProblems(spec(special), builtInKinds)).toEqual([problem]);
  });

  it.each<[string, readonly string[] | undefined, boolean]>([
    ["payment/deployment/api", undefined, true],
    ["payment/deployment/api", ["deploy"], true],
    ["payment/deployment/api", ["node", "Deployment"], true],
    ["payment/deployment/api", ["node"], false],
    ["node/worker-1", ["nodes"], true],
  ])("for %s with target kinds %j: %j", (text, targetKinds, fits) => {
    const reading = parseTarget(text);
    if (reading.kind !== "target" || reading.target.type !== "object") throw new Error("no object");

    const problem = targetKindProblem(spec(targetKinds && { targetKinds }), reading.target, builtInKinds);

    expect(problem === undefined).toBe(fits);
  });
});

function spec(special: Partial<RemediationWorkflowSpec> = {}): RemediationWorkflowSpec {
  return {
    ...{ workflowId: "node-disk-cleanup", version: "1.0.0", description: "Removes old logs." },
    ...{ containerImage: "registry.example/cleanup:1", pipeline: "workflow" },
    ...special,
  };
}
