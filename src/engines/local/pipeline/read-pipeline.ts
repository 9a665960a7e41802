import { type Document, parseAllDocuments } from "yaml";
import { maxYamlDepth, yamlDepth } from "../../../kube/index.ts";
import { duplicateKeys, maxAliases, maxYamlLength } from "../../../resources/index.ts";
import { pipelineProblems } from "./pipeline-problems.ts";
import { pipelineShape, taskShape } from "./pipeline-shape.ts";
import { isObject, type Report } from "./shape.ts";
import type { PipelineSpec } from "./spec.ts";

export type PipelineReading =
  | { readonly kind: "valid"; readonly name: string; readonly pipeline: PipelineSpec }
  /** One sentence for each thing to put right, with the path where it stands. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads a file with one Pipeline, and the Tasks that it refers to by name. Reports all that is wrong at once. */
export function readPipeline(text: string): PipelineReading {
  if (yamlDepth(text) > maxYamlDepth) return { kind: "invalid", problems: ["the pipeline is nested too deeply"] };
  if (text.length > maxYamlLength) {
    return { kind: "invalid", problems: [`the pipeline has more than ${maxYamlLength} characters`] };
  }
  const documents = parseAllDocuments(text, { prettyErrors: true, uniqueKeys: false });
  const faults = "empty" in documents ? [] : documents.flatMap(({ errors }) => errors);
  if (faults.length > 0)
    return { kind: "invalid", problems: faults.map(({ message }) => message.split("\n")[0] ?? "") };

  const duplicates = documents.filter((document) => duplicateKeys(document).length > 0);
  if (duplicates.length > 0) return { kind: "invalid", problems: ["Map keys must be unique"] };
  const values = plainValues(documents);
  if (!values)
    return { kind: "invalid", problems: [`it uses more than ${maxAliases} aliases, or is nested too deeply`] };
  const problems: string[] = [];
  const report: Report = (path, problem) => void problems.push(`${path}: ${problem}`);
  const pipeline = onlyPipeline(values, report);
  const tasks = tasksByName(values, report);
  if (!pipeline || problems.length > 0) return { kind: "invalid", problems };

  const spec = inlineTasks(pipeline["spec"], tasks, below("spec", report));
  const reading = checkedPipeline(spec, "spec");
  if (reading.kind === "invalid") problems.push(...reading.problems);
  if (problems.length > 0 || reading.kind === "invalid") return { kind: "invalid", problems };
  return { ...reading, name: nameOf(pipeline) };
}

function plainValues(documents: readonly Document[]): readonly unknown[] | undefined {
  try {
    const values = documents.map((document) => document.toJS({ maxAliasCount: maxAliases }) as unknown);
    return values.filter((value) => value !== null);
  } catch {
    return undefined;
  }
}

/** Looks at a pipeline with all its tasks in place, wherever it came from. */
export function checkedPipeline(spec: unknown, path = "spec.pipelineSpec"): PipelineReading {
  const problems: string[] = [];
  const report: Report = (where, problem) => void problems.push(`${path}.${where}: ${problem}`);
  pipelineShape(spec, "", (where, problem) => report(where || path, problem));
  for (const [path, taskSpec] of taskSpecsIn(spec)) {
    if (taskSpec !== undefined) taskShape(taskSpec, path, report);
    else report(path, "is missing: write it, or refer to a Task of the same file with taskRef");
  }
  // How names fit together can be asked once everything has a shape.
  if (problems.length === 0) pipelineProblems(spec as PipelineSpec, report);
  if (problems.length > 0) return { kind: "invalid", problems };
  return { kind: "valid", name: "", pipeline: spec as PipelineSpec };
}

function onlyPipeline(values: readonly unknown[], report: Report): Record<string, unknown> | undefined {
  const pipelines = values.filter(isObject).filter(({ kind }) => kind === "Pipeline");
  for (const value of values) {
    const kind = isObject(value) ? value["kind"] : undefined;
    if (kind !== "Pipeline" && kind !== "Task") report("kind", `must be Pipeline or Task, not ${JSON.stringify(kind)}`);
    else if ((value as { apiVersion?: unknown }).apiVersion !== "tekton.dev/v1") {
      report("apiVersion", `of the ${kind} must be tekton.dev/v1`);
    }
  }
  if (pipelines.length !== 1) report("kind", `there must be one Pipeline, but there are ${pipelines.length}`);
  return pipelines[0];
}

function tasksByName(values: readonly unknown[], report: Report): ReadonlyMap<string, unknown> {
  const tasks = new Map<string, unknown>();
  for (const task of values.filter(isObject).filter(({ kind }) => kind === "Task")) {
    const name = nameOf(task);
    if (!name) report("metadata.name", "of a Task is missing");
    if (tasks.has(name)) report("metadata.name", `there are two Tasks ${JSON.stringify(name)}`);
    tasks.set(name, task["spec"]);
  }
  return tasks;
}

/** The pipeline with each task that was referred to put in its place. */
function inlineTasks(spec: unknown, tasks: ReadonlyMap<string, unknown>, report: Report): unknown {
  if (!isObject(spec)) return spec;
  const withTasks = (list: string) => {
    const written = spec[list];
    if (!Array.isArray(written)) return {};
    return { [list]: written.map((task, index) => inlinedTask(task, `${list}[${index}]`, tasks, report)) };
  };
  return { ...spec, ...withTasks("tasks"), ...withTasks("finally") };
}

function inlinedTask(task: unknown, path: string, tasks: ReadonlyMap<string, unknown>, report: Report): unknown {
  if (!isObject(task)) return task;
  const { taskRef, ...rest } = task;
  if (taskRef === undefined) return task;
  if (rest["taskSpec"] !== undefined) report(path, "has both taskSpec and taskRef; keep one of them");
  const name = isObject(taskRef) ? taskRef["name"] : undefined;
  const isPlain =
    isObject(taskRef) && Object.keys(taskRef).every((key) => ["name", "kind", "apiVersion"].includes(key));
  // Anything but a name is for the shape to complain about.
  if (typeof name !== "string" || !isPlain) return task;
  if (!tasks.has(name)) report(`${path}.taskRef.name`, `there is no Task ${JSON.stringify(name)} in this file`);
  // In place of one that is missing, something that hides no other problem.
  return { ...rest, taskSpec: tasks.get(name) ?? { steps: [{ script: "" }] } };
}

/** The spec of every task with its path; undefined if it has none. */
function* taskSpecsIn(spec: unknown): Iterable<readonly [string, unknown]> {
  for (const list of ["tasks", "finally"]) {
    const tasks = isObject(spec) ? spec[list] : undefined;
    if (!Array.isArray(tasks)) continue;
    for (const [index, task] of tasks.entries()) {
      if (isObject(task)) yield [`${list}[${index}].taskSpec`, task["taskSpec"] ?? undefined];
    }
  }
}

function nameOf(value: Record<string, unknown>): string {
  const { metadata } = value;
  return isObject(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "";
}

function below(path: string, report: Report): Report {
  return (where, problem) => report(`${path}.${where}`, problem);
}
