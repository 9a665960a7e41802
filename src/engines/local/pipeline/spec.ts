import { isJsonObject } from "../../../kube/index.ts";
import { mustBe, type Wire, z } from "../../../schema/index.ts";
import { parseDuration } from "../../../time/index.ts";

/** A Tekton pipeline with the fields that the local engine supports. Every task is written out in place. */
export type PipelineSpec = Wire<typeof pipelineSpec>;
export type PipelineTask = PipelineSpec["tasks"][number];
export type TaskSpec = Wire<typeof taskSpec>;
export type Step = TaskSpec["steps"][number];
export type ParamSpec = Wire<typeof param>;
export type ParamValue = Wire<typeof paramValue>;
export type WhenExpression = Wire<typeof when>;

const text = z.string(mustBe("text; put it in quotes"));
const label = z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, {
  error: "must be lower-case letters, digits and -, at most 63 characters",
});
const resultName = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/, {
  error: "must be letters, digits, _, - and ., at most 63 characters",
});
const paramName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/, {
  error: "must be letters, digits, _, - and ., beginning with a letter or _",
});
const envName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "must be the name of an environment variable" });
const paramValue = z.union(
  [z.string(), z.array(text)],
  mustBe("text in quotes, or a list of texts; instead of an object, use several params"),
);
const duration = z.custom<string>(
  (value) => value === "0" || (typeof value === "string" && parseDuration(value) !== undefined),
  "must be a duration in whole numbers such as 90s, 10m or 1h30m",
);
/** A field that has no meaning here, and no effect. */
const ignored = z.unknown().optional();

const useTekton = "Use the engine tekton for this workflow";
const noVolumes = unsupported("Use the step's own directory ($HOME), or a path in workingDir.");
const noWorkspaces = unsupported("Pass results from task to task, or use a path in workingDir.");
const writeStepOut = unsupported("Write the step out in place.");
const writeTasksOut = unsupported("Write the tasks out in place.");
const noLimits = unsupported(`Processes have no limits of their own. ${useTekton}, or remove it.`);
const redirectOutput = unsupported("Redirect the output in the script.");
const localTask = unsupported("Put the Task into the same file as a document of its own, and refer to it by name.");

const param = object({
  name: paramName,
  type: z.enum(["string", "array"]).optional(),
  default: paramValue.optional(),
  description: text.optional(),
  enum: z.array(text).optional(),
  properties: unsupported("Params of type object are not supported; use several params."),
});

const env = object({
  name: envName,
  value: text.optional(),
  valueFrom: unsupported("There are no Secrets and ConfigMaps for processes: have the variable passed to all steps."),
});

const step = object({
  name: label.optional(),
  image: ignored,
  imagePullPolicy: ignored,
  displayName: ignored,
  script: text.optional(),
  command: z.array(text).min(1).optional(),
  args: z.array(text).optional(),
  env: z.array(env).optional(),
  workingDir: text.optional(),
  onError: z.enum(["continue", "stopAndFail"]).optional(),
  timeout: unsupported("Put a timeout on the task."),
  envFrom: unsupported("List the variables in env."),
  volumeMounts: noVolumes,
  workspaces: noVolumes,
  ref: writeStepOut,
  params: writeStepOut,
  when: unsupported("Put the condition on the task."),
  results: unsupported("Use results of the task."),
  computeResources: noLimits,
  resources: noLimits,
  securityContext: unsupported(`Steps run as the user that runs Interlock. ${useTekton}, or remove it.`),
  stdoutConfig: redirectOutput,
  stderrConfig: redirectOutput,
});

const result = { name: resultName, type: z.literal("string").optional(), description: text.optional() };

const taskSpec = object({
  description: text.optional(),
  displayName: text.optional(),
  metadata: ignored,
  params: z.array(param).optional(),
  results: z.array(object(result)).optional(),
  steps: z.array(step).min(1),
  sidecars: unsupported("Start what you need in a step, or use the engine tekton."),
  volumes: noVolumes,
  workspaces: noVolumes,
  stepTemplate: unsupported("Write it out in each step."),
});

const when = object({
  input: text,
  operator: z.enum(["in", "notin"]),
  values: z.array(text),
  cel: unsupported("Use input, operator and values."),
});

const taskRef = object({
  name: label,
  kind: z.literal("Task").optional(),
  apiVersion: ignored,
  resolver: localTask,
  bundle: localTask,
});

const task = object({
  name: label,
  displayName: text.optional(),
  description: text.optional(),
  taskRef: taskRef.optional(),
  taskSpec: z
    .custom<unknown>(
      (value) => value !== undefined,
      "is missing: write it, or refer to a Task of the same file with taskRef",
    )
    .pipe(taskSpec),
  params: z.array(object({ name: paramName, value: paramValue })).optional(),
  runAfter: z.array(text).optional(),
  when: z.array(when).optional(),
  retries: z.int().min(0).max(100).optional(),
  timeout: duration.optional(),
  matrix: unsupported("Write one task for each combination."),
  workspaces: noWorkspaces,
  pipelineRef: writeTasksOut,
  pipelineSpec: writeTasksOut,
  onError: unsupported("Put onError: continue on the step."),
});

/** The `spec` of a Pipeline. */
export const pipelineSpec = object({
  description: text.optional(),
  displayName: text.optional(),
  params: z.array(param).optional(),
  tasks: z.array(task).min(1),
  finally: z.array(task).optional(),
  results: z.array(object({ ...result, value: text })).optional(),
  workspaces: noWorkspaces,
});

/** An object with these fields and no others. */
function object<S extends z.ZodRawShape>(shape: S) {
  const error = ({ code }: { readonly code: string }) =>
    code === "unrecognized_keys" ? "is not supported by the local engine. Remove it." : "must be an object";
  return z.preprocess(dropAbsentFields, z.strictObject(shape, { error }));
}

/** A field that Tekton has and the local engine does not. */
function unsupported(advice: string) {
  return z.undefined({ error: `is not supported by the local engine. ${advice}` }).optional();
}

/** Drops empty fields, as an API server does. Tekton adds some with `{}`. */
function dropAbsentFields(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const present = Object.entries(value).filter(
    ([, field]) => field !== undefined && field !== null && !(isJsonObject(field) && Object.keys(field).length === 0),
  );
  return Object.fromEntries(present);
}

/** Returns every task of a pipeline, those of `finally` last. */
export function allTasks({ tasks, finally: last = [] }: PipelineSpec): readonly PipelineTask[] {
  return [...tasks, ...last];
}

/** Returns the name of a step; without one, the name that Tekton gives it. */
export function stepName({ name }: Step, index: number): string {
  return name ?? `unnamed-${index}`;
}

/**
 * Returns the program that runs a script, and its option, by the `#!` line, which has at most one argument for the kernel, too. The
 * script file is not executed itself: that fails while a process that is being started still has the file open for writing.
 */
export function scriptInterpreter(script: string): readonly string[] {
  const [, program, argument] = /^#![ \t]*(\S+)[ \t]*(.*?)[ \t]*\r?(?:\n|$)/.exec(script) ?? [];
  if (!program) return ["/bin/sh", "-e"];
  return argument ? [program, argument] : [program];
}
