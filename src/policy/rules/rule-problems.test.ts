import { describe, expect, it } from "vitest";
import { builtInKinds, parseTarget, type RemediationWorkflowSpec } from "../../resources/index.ts";
import type { Rule } from "./rule.ts";
import { diagnosisProblems, ruleProblems } from "./rule-problems.ts";

describe("the static problems of a rule", () => {
  it.each<[string, Partial<Rule>, Partial<RemediationWorkflowSpec>, readonly string[]]>([
    ["none", {}, {}, []],
    ["a workflow that is missing", { workflow: "other" }, {}, ["workflow other is not in the catalog"]],
    [
      "a target of a kind that the workflow refuses",
      { target: "{{ subject.namespace }}/deployment/{{ labels.app }}" },
      { targetKinds: ["node"] },
      ["workflow cleanup is not for a deployment: it fits node"],
    ],
    ["none if the kind is filled in", { target: "a/{{ subject.kind }}/b" }, { targetKinds: ["node"] }, []],
    ["none if the target is filled in", { target: "{{ labels.target }}" }, { targetKinds: ["node"] }, []],
    [
      "only matched kinds that the workflow refuses",
      { match: { kind: ["Pod", "deploy"] } },
      { targetKinds: ["node"] },
      ["workflow cleanup is not for a pod: it fits node", "workflow cleanup is not for a deployment: it fits node"],
    ],
    ["none if one matched kind fits", { match: { kind: ["Pod", "Node"] } }, { targetKinds: ["node"] }, []],
    ["none if an expression may match", { match: { kind: "/.*/" } }, { targetKinds: ["node"] }, []],
    [
      "an engine that is not set up",
      {},
      { engine: "job" },
      ["engine job of workflow cleanup is not set up here: execution.engines is local"],
    ],
    [
      "a required parameter that is missing",
      {},
      { parameters: { properties: { path: { type: "string" } }, required: ["path"] } },
      ["parameter path is missing"],
    ],
    [
      "a parameter that the workflow does not take",
      { parameters: { colour: "red" } },
      {},
      ["parameter colour is not a parameter of this workflow, which takes none"],
    ],
    [
      "a value that is out of bounds",
      { parameters: { days: 0 } },
      { parameters: { properties: { days: { type: "integer", minimum: 1 } } } },
      ["parameter days must be at least 1"],
    ],
    [
      "a template for a number",
      { parameters: { days: "{{ labels.days }}" } },
      { parameters: { properties: { days: { type: "integer", minimum: 1 } } } },
      ["parameter days must be a whole number, not text"],
    ],
    [
      "none if only the signal decides about a template",
      { parameters: { path: "{{ labels.path }}" } },
      { parameters: { properties: { path: { type: "string", pattern: "^/var" } } } },
      [],
    ],
  ])("are %s", (_what, rule, spec, problems) => {
    const workflow = (id: string) => (id === "cleanup" ? { spec: workflowSpec(spec) } : undefined);

    const found = ruleProblems(
      { name: "r", match: { signalName: "Any" }, workflow: "cleanup", ...rule },
      { workflow, ...installation },
    );

    expect(found).toEqual(problems);
  });
});

describe("the static problems of a diagnosis", () => {
  it.each<[string, Partial<RemediationWorkflowSpec>, readonly string[]]>([
    ["node/worker-1", { targetKinds: ["node"] }, []],
    ["a/deployment/b", { targetKinds: ["node"] }, ["workflow cleanup is not for a deployment: it fits node"]],
    [
      "node/worker-2",
      { engine: "tekton" },
      ["engine tekton of workflow cleanup is not set up here: execution.engines is local"],
    ],
    ["git:host/1@main", {}, ["target git:host/1@main is a repository: workflows run on objects"]],
  ])("of %s on %j are %j", (target, spec, problems) => {
    const read = parseTarget(target);
    if (read.kind === "problem") throw new Error(read.problem);
    const diagnosis = { target: read.target, parameters: undefined };

    expect(diagnosisProblems(diagnosis, { spec: workflowSpec(spec) }, installation)).toEqual(problems);
  });
});

const installation = {
  kinds: builtInKinds,
  settings: { engines: { available: ["local"], default: "local" } },
} as const;

function workflowSpec(given: Partial<RemediationWorkflowSpec>): RemediationWorkflowSpec {
  return {
    workflowId: "cleanup",
    version: "1.0.0",
    description: "d",
    containerImage: "x",
    pipeline: "workflow",
    ...given,
  };
}
