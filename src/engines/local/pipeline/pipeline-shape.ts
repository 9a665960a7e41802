import { parseDuration } from "../../../time/index.ts";
import {
  ignored,
  list,
  matching,
  object,
  oneOf,
  optional,
  paramValue,
  required,
  type Shape,
  text,
  wholeNumber,
} from "./shape.ts";

const label = matching(
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  "lower-case letters, digits and -, at most 63 characters",
);
const resultName = matching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$/, "letters, digits, _, - and ., at most 63 characters");
const paramName = matching(
  /^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/,
  "letters, digits, _, - and ., beginning with a letter or _",
);

const duration: Shape = (value, path, report) => {
  if (value === "0" || (typeof value === "string" && parseDuration(value) !== undefined)) return;
  report(path, "must be a duration in whole numbers such as 90s, 10m or 1h30m");
};

const useTekton = "Use the engine tekton for this workflow";
const noVolumes = "Use the step's own directory ($HOME), or a path in workingDir";

const param = object(
  {
    name: required(paramName),
    type: optional(oneOf("string", "array")),
    default: optional(paramValue),
    description: optional(text),
    enum: optional(list(text)),
  },
  { properties: "Params of type object are not supported; use several params." },
);

const envName = matching(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable");

const env = object(
  { name: required(envName), value: optional(text) },
  {
    valueFrom: "There are no Secrets and ConfigMaps for processes: have the variable passed to all steps.",
  },
);

const step = object(
  {
    name: optional(label),
    image: optional(ignored),
    imagePullPolicy: optional(ignored),
    displayName: optional(ignored),
    script: optional(text),
    command: optional(list(text, { atLeast: 1 })),
    args: optional(list(text)),
    env: optional(list(env)),
    workingDir: optional(text),
    onError: optional(oneOf("continue", "stopAndFail")),
  },
  {
    timeout: "Put a timeout on the task.",
    envFrom: "List the variables in env.",
    volumeMounts: `${noVolumes}.`,
    workspaces: `${noVolumes}.`,
    ref: "Write the step out in place.",
    params: "Write the step out in place.",
    when: "Put the condition on the task.",
    results: "Use results of the task.",
    computeResources: `Processes have no limits of their own. ${useTekton}, or remove it.`,
    resources: `Processes have no limits of their own. ${useTekton}, or remove it.`,
    securityContext: `Steps run as the user that runs Interlock. ${useTekton}, or remove it.`,
    stdoutConfig: "Redirect the output in the script.",
    stderrConfig: "Redirect the output in the script.",
  },
);

const result = object({
  name: required(resultName),
  type: optional(oneOf("string")),
  description: optional(text),
});

/** The `spec` of a Task. */
export const taskShape = object(
  {
    description: optional(text),
    displayName: optional(text),
    metadata: optional(ignored),
    params: optional(list(param)),
    results: optional(list(result)),
    steps: required(list(step, { atLeast: 1 })),
  },
  {
    sidecars: `Start what you need in a step, or use the engine tekton.`,
    volumes: `${noVolumes}.`,
    workspaces: `${noVolumes}.`,
    stepTemplate: "Write it out in each step.",
  },
);

const when = object(
  { input: required(text), operator: required(oneOf("in", "notin")), values: required(list(text)) },
  { cel: "Use input, operator and values." },
);

const taskRef = object(
  { name: required(label), kind: optional(oneOf("Task")), apiVersion: optional(ignored) },
  {
    resolver: "Put the Task into the same file as a document of its own, and refer to it by name.",
    bundle: "Put the Task into the same file as a document of its own, and refer to it by name.",
  },
);

const task = object(
  {
    name: required(label),
    displayName: optional(text),
    description: optional(text),
    taskRef: optional(taskRef),
    taskSpec: optional(ignored),
    params: optional(list(object({ name: required(paramName), value: required(paramValue) }))),
    runAfter: optional(list(text)),
    when: optional(list(when)),
    retries: optional(wholeNumber(100)),
    timeout: optional(duration),
  },
  {
    matrix: "Write one task for each combination.",
    workspaces: "Pass results from task to task, or use a path in workingDir.",
    pipelineRef: "Write the tasks out in place.",
    pipelineSpec: "Write the tasks out in place.",
    onError: "Put onError: continue on the step.",
  },
);

/** The `spec` of a Pipeline. What stands below `taskSpec` is checked with `taskShape`. */
export const pipelineShape = object(
  {
    description: optional(text),
    displayName: optional(text),
    params: optional(list(param)),
    tasks: required(list(task, { atLeast: 1 })),
    finally: optional(list(task)),
    results: optional(
      list(
        object({
          name: required(resultName),
          type: optional(oneOf("string")),
          value: required(text),
          description: optional(text),
        }),
      ),
    ),
  },
  { workspaces: "Pass results from task to task, or use a path in workingDir." },
);
