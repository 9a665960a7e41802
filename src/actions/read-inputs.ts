import {
  builtInKinds,
  checkParameters,
  type ParameterValue,
  parseTarget,
  targetKindProblem,
  type WorkflowParameter,
} from "../resources/index.ts";
import type { ActionDescription, ActionInputs, ParameterSchema } from "./action.ts";

/** The maximum of `waitSeconds`. */
export const maxWaitSeconds = 3_600;

/** The parameters of every action. */
const commonParameters: ParameterSchema["properties"] = {
  dryRun: { type: "boolean", default: false, description: "Print what would be written, and write nothing." },
  waitSeconds: {
    type: "integer",
    default: 300,
    minimum: 5,
    maximum: maxWaitSeconds,
    description: "How long to wait for the result, and for disruption budgets, before the action fails.",
  },
};

/** The schema of an action's parameters, as its catalog entries have it. */
export function parameterSchema({ parameters, required }: ActionDescription): ParameterSchema {
  return { properties: { ...parameters, ...commonParameters }, ...(required && { required: [...required] }) };
}

export type InputReading =
  | { readonly kind: "inputs"; readonly inputs: Omit<ActionInputs, "nowMs"> }
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/**
 * Reads the inputs of a run from its environment, where every engine puts them, and checks them again: an action trusts
 * neither the catalog entry nor the caller.
 */
export function readInputs(action: ActionDescription, env: Readonly<Record<string, string | undefined>>): InputReading {
  const problems: string[] = [];
  const read = parseTarget(env["TARGET_RESOURCE"] ?? "");
  const target = read.kind === "target" && read.target.type === "object" ? read.target : undefined;
  if (!target) problems.push(`TARGET_RESOURCE ${read.kind === "problem" ? read.problem : "is not an object"}`);
  else {
    const { name: workflowId, targetKinds } = action;
    const problem = targetKindProblem({ workflowId, ...(targetKinds && { targetKinds }) }, target, builtInKinds);
    if (problem) problems.push(problem);
    if (target.cluster !== undefined)
      problems.push(`TARGET_RESOURCE names the cluster ${target.cluster}, not this one`);
  }
  const executionUid = env["EXECUTION_UID"] ?? "";
  if (executionUid === "") problems.push("EXECUTION_UID is missing: run the action as a workflow");
  const fence = env["FENCE"] ?? "";
  if (!/^\d{1,40}$/.test(fence)) problems.push("FENCE is missing or not a number: run the action as a workflow");

  const schema = parameterSchema(action);
  const given = Object.entries(schema.properties).flatMap(([name, parameter]): [string, ParameterValue][] => {
    const text = env[name];
    return text === undefined ? [] : [[name, toValue(text, parameter)]];
  });
  const checked = checkParameters(schema, Object.fromEntries(given));
  if (checked.kind === "invalid") problems.push(...checked.problems);
  if (problems.length > 0 || !target || checked.kind === "invalid") return { kind: "invalid", problems };
  return {
    kind: "inputs",
    inputs: { target, executionUid, fence: BigInt(fence), parameters: checked.parameters },
  };
}

/** Converts the text of an environment variable. A text that is not of the type is returned as it is, and the schema rejects it. */
function toValue(text: string, { type }: WorkflowParameter): ParameterValue {
  switch (type) {
    case "integer":
    case "number":
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case "boolean":
      return text === "true" || text === "false" ? text === "true" : text;
    case "array":
      return toList(text);
    case "string":
      return text;
  }
}

function toList(text: string): ParameterValue {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as string[]) : text;
  } catch {
    return text;
  }
}
