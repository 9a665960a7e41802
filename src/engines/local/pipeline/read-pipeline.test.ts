import { describe, expect, it } from "vitest";
import { readPipeline } from "./read-pipeline.ts";

describe("a pipeline file", () => {
  it("is read with each referenced Task in place of its reference", () => {
    const reading = readPipeline(`${file("  tasks: [{name: a, taskRef: {name: shared}}]")}
---
apiVersion: tekton.dev/v1
kind: Task
metadata: {name: shared}
spec: {steps: [{script: "true"}]}
`);

    expect(reading).toEqual({
      kind: "valid",
      pipeline: { tasks: [{ name: "a", taskSpec: { steps: [{ script: "true" }] } }] },
    });
  });

  it("is rejected with all problems and their paths", () => {
    const text = file(`
  workspaces: [{name: source}]
  params: [{name: o, type: object}]
  tasks:
    - name: Bad_Name
      matrix: {params: []}
      retries: -1
      timeout: 1.5h
      taskSpec: {sidecars: [], steps: [{script: "true"}]}
`);

    expect(problemsIn(text)).toEqual([
      "spec.params[0].type: must be one of string, array",
      "spec.tasks[0].name: must be lower-case letters, digits and -, at most 63 characters",
      "spec.tasks[0].taskSpec.sidecars: is not supported by the local engine. Start what you need in a step, or use the engine tekton.",
      "spec.tasks[0].retries: must be at least 0",
      "spec.tasks[0].timeout: must be a duration in whole numbers such as 90s, 10m or 1h30m",
      "spec.tasks[0].matrix: is not supported by the local engine. Write one task for each combination.",
      "spec.workspaces: is not supported by the local engine. Pass results from task to task, or use a path in workingDir.",
    ]);
  });

  it("can have empty fields, as Tekton writes them", () => {
    const text = file(
      "  {workspaces: null, tasks: [{name: a, taskSpec: {steps: [{script: 'true', computeResources: {}}]}}]}",
    );

    expect(readPipeline(text)).toEqual({
      kind: "valid",
      pipeline: { tasks: [{ name: "a", taskSpec: { steps: [{ script: "true" }] } }] },
    });
  });

  it.each([
    ["not YAML", "a: [", "Flow sequence"],
    ["nothing", "", "there must be one Pipeline, but there are 0"],
    ["a list", "[]", "documents[0]: must be a Pipeline or a Task"],
    ["another kind", "kind: PipelineRun", "documents[0].kind: must be a Pipeline or a Task"],
    ["a Task without a name", `${file("  {}")}\n---\n${task("{}")}`, "documents[1].metadata.name: is missing"],
    [
      "an old version",
      "apiVersion: tekton.dev/v1beta1\nkind: Pipeline\nspec: {tasks: []}",
      "documents[0].apiVersion: must be tekton.dev/v1",
    ],
    ["no spec", "apiVersion: tekton.dev/v1\nkind: Pipeline", "documents[0].spec: is missing"],
    ["no tasks", file("  tasks: []"), "spec.tasks: must have at least 1 entry"],
    ["a task without steps", file("  tasks: [{name: a}]"), "spec.tasks[0].taskSpec: is missing"],
    ["a Task that is not there", file("  tasks: [{name: a, taskRef: {name: b}}]"), 'there is no Task "b" in this file'],
    [
      "a Task without a spec",
      `${file("  tasks: [{name: a, taskRef: {name: b}}]")}\n---\n${task("{name: b}")}`,
      "documents[1].spec: is missing",
    ],
    ["a spec that is a list", file("  []"), "spec: must be an object"],
    ["a field that Tekton does not have", file("  {tasks: [], taks: []}"), "spec.taks: is not supported by the local"],
    [
      "a field of a prototype",
      file("  {tasks: [], constructor: 1}"),
      "spec.constructor: is not supported by the local",
    ],
    [
      "a number as text",
      file(`  {${step("env: [{name: A, value: 1}]")}}`),
      "env[0].value: must be text; put it in quotes",
    ],
    ["a number in a list", file("  {params: [{name: l, default: [1]}]}"), "params[0].default[0]: must be text; put"],
    [
      "an object as a param",
      file("  {params: [{name: o, default: {a: b}}]}"),
      "params[0].default: must be text in quotes",
    ],
    ["a remote Task", file("  tasks: [{name: a, taskRef: {resolver: git}}]"), "taskRef.resolver: is not supported"],
  ])("is refused: %s", (_what, text, problem) => {
    expect(problemsIn(text).join("\n")).toContain(problem);
  });
});

describe("names in a pipeline", () => {
  it.each([
    ["defined twice", "tasks: [{name: a, taskSpec: S}, {name: a, taskSpec: S}]", 'spec.tasks: "a" is defined twice'],
    ["of nothing, in runAfter", "tasks: [{name: a, runAfter: [b], taskSpec: S}]", 'there is no task "b"'],
    [
      "in a cycle",
      "tasks: [{name: a, runAfter: [b], taskSpec: S}, {name: b, runAfter: [a], taskSpec: S}]",
      "a -> b -> a",
    ],
    [
      "in finally, in order",
      "tasks: [{name: a, taskSpec: S}], finally: [{name: b, runAfter: [a], taskSpec: S}]",
      "is not possible in finally",
    ],
    ["of a param that is not declared", step("args: [$(params.x)], command: [echo]"), 'there is no param "x"'],
    ["of a result that is not declared", step("script: echo > $(results.x.path)"), 'the task declares no result "x"'],
    [
      "of a result of no task",
      "tasks: [{name: a, when: [{input: $(tasks.b.results.r), operator: in, values: [x]}], taskSpec: S}]",
      'there is no task "b"',
    ],
    [
      "of a status too early",
      "tasks: [{name: a, taskSpec: S}, {name: b, when: [{input: $(tasks.a.status), operator: in, values: [x]}], taskSpec: S}]",
      "can be used only in finally",
    ],
    [
      "of a variable that only Tekton has",
      step("script: echo $(workspaces.x.path)"),
      "is not a variable of the local engine",
    ],
    [
      "of a param that a task does not have",
      "tasks: [{name: a, params: [{name: x, value: y}], taskSpec: S}]",
      'the task has no param "x"',
    ],
    [
      "of a param without a value",
      "tasks: [{name: a, taskSpec: {params: [{name: x}], steps: [{script: 'true'}]}}]",
      "x is missing, and has no default",
    ],
    [
      "of a list used as text",
      `params: [{name: l, type: array}], ${step("args: [$(params.l)], command: [echo]")}`,
      "is a list",
    ],
    [
      "of a list inside text",
      `params: [{name: l, type: array}], ${step("args: ['a$(params.l[*])'], command: [echo]")}`,
      "must be a whole element of a list",
    ],
    [
      "of a variable that the engine sets",
      step("script: 'true', env: [{name: FENCE, value: '1'}]"),
      "FENCE is set by the engine",
    ],
  ])("are refused: %s", (_what, spec, problem) => {
    expect(problemsIn(file(`  {${spec.replaceAll(": S}", ": {steps: [{script: 'true'}]}}")}}`)).join("\n")).toContain(
      problem,
    );
  });
});

describe("a parameter in code", () => {
  it.each([
    ["a script", "script: echo $(params.x)"],
    ["a quoted place of a script", "script: echo \"'$(params.x)'\""],
    ["what a shell is given", "command: [sh, -c, 'echo $(params.x)']"],
    ["what a shell is given with options", "command: [/bin/bash, -euxc, 'echo $(params.x)']"],
    ["what a shell is given through another program", "command: [env, A=b, bash, -c, 'echo $(params.x)']"],
    ["what a shell is given in args", "command: [sh], args: [-c, 'echo $(params.x)']"],
    ["what Python is given", "command: [python3, -c, 'print($(params.x))']"],
    ["what Node is given", "command: [node, -e, 'console.log($(params.x))']"],
  ])("is refused, with the way to do it: %s", (_where, text) => {
    const problems = problemsIn(file(`  {params: [{name: x}], ${step(text)}}`));

    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(
      '$(params.x) cannot be used in code: a value could be run as a command. Add "env: [{name: VALUE',
    );
  });

  it.each([
    ["as an argument", "command: [echo, $(params.x)]"],
    ["as an argument of a shell's code", "command: [sh, -c, 'echo \"$1\"', x, $(params.x)]"],
    [
      "in a variable",
      'script: echo "$X", env: [{name: X, value: $(params.x)}]'.replace('script: echo "$X"', "script: 'echo \"$X\"'"),
    ],
    ["and a shell's own substitution in code", "script: 'echo $(date) $(context.pipelineRun.name)'"],
  ])("may stand elsewhere: %s", (_where, text) => {
    expect(problemsIn(file(`  {params: [{name: x}], ${step(text)}}`))).toEqual([]);
  });

  it("cannot choose the program", () => {
    const text = file(`  {params: [{name: x}], ${step("command: [$(params.x)]")}}`);

    expect(problemsIn(text).join()).toContain("the program to run cannot come from a parameter");
  });

  it("that is a secret cannot be an argument", () => {
    const text = file(`  {params: [{name: api-token}], ${step("command: [login, $(params.api-token)]")}}`);

    expect(problemsIn(text).join()).toContain("would be visible in the list of processes");
  });
});

function file(spec: string): string {
  return `apiVersion: tekton.dev/v1\nkind: Pipeline\nmetadata: {name: workflow}\nspec:\n${spec}`;
}

function task(metadata: string): string {
  return `apiVersion: tekton.dev/v1\nkind: Task\nmetadata: ${metadata}`;
}

function step(text: string): string {
  return `tasks: [{name: a, taskSpec: {steps: [{${text}}]}}]`;
}

function problemsIn(text: string): readonly string[] {
  const reading = readPipeline(text);
  return reading.kind === "invalid" ? reading.problems : [];
}
