import { type Document, parseAllDocuments } from "yaml";
import { maxYamlDepth, yamlDepth } from "../../../kube/index.ts";
import { duplicateKeys, maxAliases, maxYamlLength } from "../../../resources/index.ts";
import { parse, type Wire, z } from "../../../schema/index.ts";
import { pipelineProblems } from "./pipeline-problems.ts";
import { type PipelineSpec, pipelineSpec } from "./spec.ts";
import type { ReportProblem } from "./variable-problems.ts";

export type PipelineReading =
  | { readonly kind: "valid"; readonly pipeline: PipelineSpec }
  /** One sentence for each problem, with its path. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads a file with one Pipeline, and the Tasks that it refers to by name. Returns all problems at once. */
export function readPipeline(text: string): PipelineReading {
  if (yamlDepth(text) > maxYamlDepth) return invalid("the pipeline is nested too deeply");
  if (text.length > maxYamlLength) return invalid(`the pipeline has more than ${maxYamlLength} characters`);
  const yaml = parseAllDocuments(text, { prettyErrors: true, uniqueKeys: false });
  const faults = "empty" in yaml ? [] : yaml.flatMap(({ errors }) => errors);
  if (faults.length > 0) return invalid(...faults.map(({ message }) => message.split("\n")[0] ?? ""));

  if (yaml.some((document) => duplicateKeys(document).length > 0)) return invalid("Map keys must be unique");
  const values = plainValues(yaml);
  if (!values) return invalid(`it uses more than ${maxAliases} aliases, or is nested too deeply`);

  const parsed = parse(z.array(document), values);
  if (parsed.kind === "invalid")
    return invalid(...parsed.problems.map(({ path, wrong }) => `documents${path}: ${wrong}`));
  return readDocuments(parsed.value);
}

const document = z.discriminatedUnion(
  "kind",
  [
    z.looseObject({
      apiVersion: z.literal("tekton.dev/v1"),
      kind: z.literal("Pipeline"),
      spec: z.unknown(),
    }),
    z.looseObject({
      apiVersion: z.literal("tekton.dev/v1"),
      kind: z.literal("Task"),
      metadata: z.looseObject({ name: z.string().min(1) }),
      spec: z.unknown(),
    }),
  ],
  { error: "must be a Pipeline or a Task" },
);

function plainValues(documents: readonly Document[]): readonly unknown[] | undefined {
  try {
    const values = documents.map((document) => document.toJS({ maxAliasCount: maxAliases }) as unknown);
    return values.filter((value) => value !== null);
  } catch {
    return undefined;
  }
}

function readDocuments(documents: readonly Wire<typeof document>[]): PipelineReading {
  const problems: string[] = [];
  const pipelines = documents.filter(({ kind }) => kind === "Pipeline");
  if (pipelines.length !== 1) problems.push(`kind: there must be one Pipeline, but there are ${pipelines.length}`);
  const tasks = new Map<string, unknown>();
  for (const each of documents) {
    if (each.kind !== "Task") continue;
    const { name } = each.metadata;
    if (tasks.has(name)) problems.push(`metadata.name: there are two Tasks ${JSON.stringify(name)}`);
    tasks.set(name, each.spec);
  }
  if (problems.length > 0) return invalid(...problems);

  const spec = inlineTasks(pipelines[0]?.spec, tasks, (path, problem) => problems.push(`spec.${path}: ${problem}`));
  const reading = checkPipeline(spec, "spec");
  if (reading.kind === "invalid") return invalid(...problems, ...reading.problems);
  return problems.length > 0 ? invalid(...problems) : reading;
}

/** Checks a pipeline whose tasks are all written out in place. */
export function checkPipeline(spec: unknown, root = "spec.pipelineSpec"): PipelineReading {
  const parsed = parse(pipelineSpec, spec);
  if (parsed.kind === "invalid") {
    return invalid(...parsed.problems.map(({ path, wrong }) => `${path ? `${root}.${path}` : root}: ${wrong}`));
  }
  const problems: string[] = [];
  pipelineProblems(parsed.value, (path, problem) => problems.push(`${root}.${path}: ${problem}`));
  return problems.length > 0 ? invalid(...problems) : { kind: "valid", pipeline: parsed.value };
}

/** Replaces each reference by the task itself. The schema reports values of another shape. */
function inlineTasks(spec: unknown, tasks: ReadonlyMap<string, unknown>, report: ReportProblem): unknown {
  const parsed = z.looseObject({}).safeParse(spec);
  if (!parsed.success) return spec;
  const withTasks = (list: string) => {
    const written = parsed.data[list];
    if (!Array.isArray(written)) return {};
    return { [list]: written.map((task, index) => inlineTask(task, `${list}[${index}]`, tasks, report)) };
  };
  return { ...parsed.data, ...withTasks("tasks"), ...withTasks("finally") };
}

const reference = z.looseObject({
  taskSpec: z.unknown().optional(),
  taskRef: z.strictObject({ name: z.string(), kind: z.unknown().optional(), apiVersion: z.unknown().optional() }),
});

function inlineTask(task: unknown, path: string, tasks: ReadonlyMap<string, unknown>, report: ReportProblem): unknown {
  const parsed = reference.safeParse(task);
  if (!parsed.success) return task;
  const { taskRef, taskSpec, ...rest } = parsed.data;
  if (taskSpec !== undefined) report(path, "has both taskSpec and taskRef; keep one of them");
  if (tasks.has(taskRef.name)) return { ...rest, taskSpec: tasks.get(taskRef.name) };
  report(`${path}.taskRef.name`, `there is no Task ${JSON.stringify(taskRef.name)} in this file`);
  // A valid task in place of the missing one, so that the other problems are found, too.
  return { ...rest, taskSpec: { steps: [{ script: "" }] } };
}

function invalid(...problems: readonly string[]): PipelineReading {
  return { kind: "invalid", problems };
}
