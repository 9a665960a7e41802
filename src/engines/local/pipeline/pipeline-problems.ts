import { findCycle, findParents } from "./dependencies.ts";
import { allTasks, type PipelineSpec, type PipelineTask } from "./spec.ts";
import { stepProblems } from "./step-problems.ts";
import { paramProblems, type ReportProblem, reportMisplaced } from "./variable-problems.ts";
import { findMentions, type Variable, wholeList } from "./variables.ts";

/** Reports contradictions in a pipeline of the right shape, such as unknown names. */
export function pipelineProblems(pipeline: PipelineSpec, report: ReportProblem): void {
  const { tasks, finally: last = [], params = [], results = [] } = pipeline;
  reportDuplicates(params, "params", report);
  reportDuplicates(allTasks(pipeline), "tasks", report);
  for (const [index, task] of tasks.entries()) taskProblems(task, `tasks[${index}]`, pipeline, report);
  for (const [index, task] of last.entries()) finallyProblems(task, `finally[${index}]`, pipeline, report);

  const cycle = findCycle(tasks);
  if (cycle) report("tasks", `wait for one another in a cycle: ${cycle.join(" -> ")}`);

  for (const [index, { value }] of results.entries()) {
    for (const mention of findMentions(value)) {
      const path = `results[${index}].value`;
      if (mention.variable?.kind !== "result")
        report(path, `${mention.text} cannot be used here; use $(tasks.NAME.results.NAME)`);
      else resultProblems(mention.variable, path, allTasks(pipeline), report);
    }
  }
}

function taskProblems(task: PipelineTask, path: string, pipeline: PipelineSpec, report: ReportProblem) {
  const names = pipeline.tasks.map(({ name }) => name);
  for (const [index, name] of (task.runAfter ?? []).entries()) {
    if (!names.includes(name)) report(`${path}.runAfter[${index}]`, `there is no task ${JSON.stringify(name)}`);
  }
  if (findParents(task).has(task.name)) report(path, "waits for itself");
  anyTaskProblems(task, path, pipeline, report);
}

function finallyProblems(task: PipelineTask, path: string, pipeline: PipelineSpec, report: ReportProblem) {
  if (task.runAfter?.length)
    report(`${path}.runAfter`, "is not possible in finally: these tasks run last, all at the same time");
  anyTaskProblems(task, path, pipeline, report);
}

function anyTaskProblems(task: PipelineTask, path: string, pipeline: PipelineSpec, report: ReportProblem) {
  const { taskSpec, params = [], when = [] } = task;
  reportDuplicates(params, `${path}.params`, report);
  reportDuplicates(taskSpec.params ?? [], `${path}.taskSpec.params`, report);
  reportDuplicates(taskSpec.results ?? [], `${path}.taskSpec.results`, report);
  checkParams(task, path, pipeline, report);

  for (const [index, { value }] of params.entries()) {
    const where = `${path}.params[${index}].value`;
    for (const text of [value].flat()) taskTextProblems(text, where, { task, pipeline, lists: true }, report);
  }
  for (const [index, { input, values }] of when.entries()) {
    taskTextProblems(input, `${path}.when[${index}].input`, { task, pipeline, lists: false }, report);
    for (const text of values)
      taskTextProblems(text, `${path}.when[${index}].values`, { task, pipeline, lists: true }, report);
  }
  for (const [index] of taskSpec.steps.entries()) stepProblems(task, index, { path, pipeline }, report);
}

/** Checks that each parameter of a task has a value: a given one, its default, or that of the pipeline with the same name. */
function checkParams(
  { params = [], taskSpec }: PipelineTask,
  path: string,
  pipeline: PipelineSpec,
  report: ReportProblem,
) {
  const declared = taskSpec.params ?? [];
  for (const { name, default: standard } of declared) {
    const isGiven =
      params.some((given) => given.name === name) || pipeline.params?.some((param) => param.name === name);
    if (!isGiven && standard === undefined) report(`${path}.params`, `${name} is missing, and has no default`);
  }
  for (const [index, { name, value }] of params.entries()) {
    const spec = declared.find((param) => param.name === name);
    const isList = typeof value !== "string" || wholeList(value) !== undefined;
    if (!spec) report(`${path}.params[${index}]`, `the task has no param ${JSON.stringify(name)}`);
    else if (isList !== (spec.type === "array")) {
      report(`${path}.params[${index}].value`, `must be ${spec.type === "array" ? "a list" : "text"}`);
    }
  }
}

interface TaskText {
  readonly task: PipelineTask;
  readonly pipeline: PipelineSpec;
  /** Whether `$(params.x[*])` may stand here. */
  readonly lists: boolean;
}

/** Checks the variables in params and conditions of a task. */
function taskTextProblems(text: string, path: string, { task, pipeline, lists }: TaskText, report: ReportProblem) {
  const isLast = pipeline.finally?.includes(task) ?? false;
  for (const mention of findMentions(text)) {
    const { variable } = mention;
    if (variable?.kind === "param") {
      paramProblems(
        variable,
        path,
        { params: pipeline.params ?? [], list: lists && wholeList(text) !== undefined },
        report,
      );
    } else if (variable?.kind === "result") resultProblems(variable, path, pipeline.tasks, report);
    else if (variable?.kind === "status" && isLast) statusProblems(variable, path, pipeline, report);
    else if (variable?.kind === "status") report(path, `${mention.text} can be used only in finally`);
    else if (variable?.kind !== "context" || !/^pipeline/.test(variable.path)) reportMisplaced(mention, path, report);
  }
}

function resultProblems(
  { task, name }: Variable & { kind: "result" },
  path: string,
  tasks: readonly PipelineTask[],
  report: ReportProblem,
) {
  const found = tasks.find((other) => other.name === task);
  if (!found) report(path, `there is no task ${JSON.stringify(task)} whose results could be used here`);
  else if (!found.taskSpec.results?.some((result) => result.name === name)) {
    report(path, `the task ${JSON.stringify(task)} has no result ${JSON.stringify(name)}`);
  }
}

function statusProblems(
  { task }: Variable & { kind: "status" },
  path: string,
  { tasks }: PipelineSpec,
  report: ReportProblem,
) {
  if (task !== undefined && !tasks.some(({ name }) => name === task))
    report(path, `there is no task ${JSON.stringify(task)}`);
}

function reportDuplicates(named: readonly { readonly name: string }[], path: string, report: ReportProblem) {
  const seen = new Set<string>();
  for (const { name } of named) {
    if (seen.has(name)) report(path, `${JSON.stringify(name)} is defined twice`);
    seen.add(name);
  }
}
