import { linearPattern } from "../../kube/index.ts";
import { parseDuration } from "../../time/index.ts";
import type { RemediationWorkflowSpec, WorkflowParameter } from "../kinds/remediation-workflow.ts";
import type { Kinds } from "../target/kinds.ts";
import { addKind } from "../target/object-target.ts";
import type { ObjectTarget } from "../target/target.ts";
import { valueProblems } from "./check-parameters.ts";
import { isCodeVariable } from "./code-variables.ts";

/** Parameters that every run gets from Interlock. */
export const reservedParameters = ["TARGET_RESOURCE", "EXECUTION_UID", "FENCE"] as const;

/** The problems of a workflow that fits the schema, as sentences that begin with the path. */
export function workflowProblems(spec: RemediationWorkflowSpec, kinds: Kinds): string[] {
  const { properties = {}, required = [] } = spec.parameters ?? {};
  const problems = Object.entries(properties).flatMap(([name, parameter]) => {
    const at = `spec.parameters.properties.${name}`;
    if ((reservedParameters as readonly string[]).includes(name)) {
      return [`${at} is given to every run by itself: leave it out`];
    }
    if (spec.engine === "job" && isCodeVariable(name)) {
      return [`${at} becomes a variable that programs read as code: give it another name`];
    }
    return parameterProblems(parameter).map((problem) => `${at}${problem}`);
  });
  for (const [place, name] of required.entries()) {
    if (!Object.hasOwn(properties, name))
      problems.push(`spec.parameters.required[${place}] names ${name}, which is not among the properties`);
  }
  for (const [place, kind] of (spec.targetKinds ?? []).entries()) {
    if (kinds.find(kind)) continue;
    problems.push(`spec.targetKinds[${place}] is "${kind}", which is not a known kind: ${kindFix(kind, kinds)}`);
  }
  if (spec.args && (spec.engine === "tekton" || spec.engine === "local")) {
    problems.push(`spec.args has no meaning for the engine ${spec.engine}: write them in the pipeline`);
  }
  if (spec.timeout && parseDuration(spec.timeout) === 0) problems.push("spec.timeout must be longer than 0");
  return problems;
}

function kindFix(kind: string, kinds: Kinds): string {
  const meant = kinds.suggest(kind);
  if (meant !== undefined) return `did you mean ${meant}?`;
  if (kind.includes(".")) return kinds.incomplete ?? addKind;
  return "write kinds that are not built in with their group, as in certificate.cert-manager.io";
}

/** A kind as targets name it: in lower-case singular, with its API group. */
export type TargetKind = Pick<ObjectTarget, "kind" | "group">;

/** Why a workflow may not be run on objects of a kind, as a sentence without its full stop; undefined if it may. */
export function targetKindProblem(
  { workflowId, targetKinds }: Pick<RemediationWorkflowSpec, "workflowId" | "targetKinds">,
  { kind, group }: TargetKind,
  kinds: Kinds,
): string | undefined {
  const fits = targetKinds?.some((spelling) => {
    const known = kinds.find(spelling);
    return known?.singular === kind && known.groups.includes(group);
  });
  return (fits ?? true) ? undefined : `workflow ${workflowId} is not for a ${kind}: it fits ${targetKinds?.join(", ")}`;
}

function parameterProblems(parameter: WorkflowParameter): string[] {
  const problems: string[] = [];
  for (const [keyword, types] of Object.entries(keywordTypes)) {
    const isSet = parameter[keyword as keyof WorkflowParameter] !== undefined;
    if (isSet && !types.includes(parameter.type))
      problems.push(`.${keyword} has no meaning for type ${parameter.type}`);
  }
  for (const [min, max] of [
    ["minimum", "maximum"],
    ["minLength", "maxLength"],
    ["minItems", "maxItems"],
  ] as const) {
    if ((parameter[min] ?? -Infinity) > (parameter[max] ?? Infinity))
      problems.push(`.${min} is greater than its ${max}`);
  }
  if (parameter.pattern !== undefined && !isPattern(parameter.pattern))
    problems.push(".pattern is not a regular expression");
  if (problems.length > 0) return problems;

  const { default: value, enum: allowed = [], ...rest } = parameter;
  for (const [place, entry] of allowed.entries()) {
    problems.push(...valueProblems(rest, entry).map((problem) => `.enum[${place}] ${problem}`));
  }
  if (value !== undefined) problems.push(...valueProblems(parameter, value).map((problem) => `.default ${problem}`));
  return problems;
}

const keywordTypes: Readonly<Record<string, readonly WorkflowParameter["type"][]>> = {
  pattern: ["string", "array"],
  minLength: ["string"],
  maxLength: ["string"],
  minimum: ["integer", "number"],
  maximum: ["integer", "number"],
  minItems: ["array"],
  maxItems: ["array"],
};

function isPattern(pattern: string): boolean {
  try {
    linearPattern(pattern);
    return true;
  } catch {
    return false;
  }
}
