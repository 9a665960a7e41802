import { linearPattern } from "../../kube/index.ts";
import type { RemediationWorkflowSpec, WorkflowParameter } from "../kinds/remediation-workflow.ts";
import type { ParameterValue } from "../kinds/schemas/fields.ts";

type CheckedParameters =
  /** Complete: absent parameters have their defaults. */
  | { readonly kind: "valid"; readonly parameters: Readonly<Record<string, ParameterValue>> }
  /** One sentence for each problem. No value is repeated: it may be a secret. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Compares values with the parameters of a workflow. All problems are reported at once. */
export function checkParameters(
  schema: RemediationWorkflowSpec["parameters"],
  values: Readonly<Record<string, ParameterValue>>,
): CheckedParameters {
  const { properties = {}, required = [] } = schema ?? {};
  const names = Object.keys(properties);
  const problems: string[] = [];
  for (const name of Object.keys(values)) {
    if (!names.includes(name))
      problems.push(`${name} is not a parameter of this workflow, which takes ${toList(names)}`);
  }
  const complete: [string, ParameterValue][] = [];
  for (const name of names) {
    const parameter = own(properties, name) as WorkflowParameter;
    const value = own(values, name) ?? parameter.default;
    if (value !== undefined) {
      problems.push(...valueProblems(parameter, value).map((problem) => `${name} ${problem}`));
      complete.push([name, value]);
    } else if (required.includes(name)) problems.push(`${name} is missing`);
  }
  return problems.length > 0
    ? { kind: "invalid", problems }
    : { kind: "valid", parameters: Object.fromEntries(complete) };
}

/** The problems of one value, each as the rest of a sentence about it. */
export function valueProblems(parameter: WorkflowParameter, value: ParameterValue): string[] {
  if (!hasType(parameter, value)) return [`must be ${typeTexts[parameter.type]}${describeInstead(value)}`];
  const problems = boundProblems(parameter, value);
  if (parameter.enum && !parameter.enum.some((allowed) => sameValue(allowed, value))) {
    problems.push(`must be one of ${parameter.enum.map((allowed) => JSON.stringify(allowed)).join(", ")}`);
  }
  const texts = typeof value === "string" ? [value] : typeof value === "object" ? value : [];
  if (texts.some((text) => text.includes("\0")))
    problems.push("must not contain the character NUL, which no program can receive");
  const { pattern } = parameter;
  if (pattern !== undefined && !texts.every((text) => matches(pattern, text))) {
    problems.push(`must match ${pattern}${typeof value === "object" ? ", each entry" : ""}`);
  }
  return problems;
}

const typeTexts: Record<WorkflowParameter["type"], string> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list of texts",
};

function hasType({ type }: WorkflowParameter, value: ParameterValue): boolean {
  switch (type) {
    case "array":
      return Array.isArray(value) && value.every((entry) => typeof entry === "string");
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return Number.isFinite(value);
    case "string":
    case "boolean":
      return typeof value === type;
  }
}

/** A number can only be wrong for not being whole or not being finite, which the message states already. */
function describeInstead(value: ParameterValue): string {
  if (typeof value === "object") return ", not a list";
  return typeof value === "number" ? "" : `, not ${typeof value === "string" ? "text" : "true or false"}`;
}

function boundProblems(parameter: WorkflowParameter, value: ParameterValue): string[] {
  if (typeof value === "number") return outside(value, parameter.minimum, parameter.maximum, (n) => `be @ ${n}`);
  // A character outside the basic plane counts as one.
  if (typeof value === "string") {
    return outside([...value].length, parameter.minLength, parameter.maxLength, (n) => `have @ ${n} characters`);
  }
  if (typeof value === "boolean") return [];
  return outside(value.length, parameter.minItems, parameter.maxItems, (n) => `have @ ${n} entries`);
}

function outside(size: number, min = -Infinity, max = Infinity, rule: (limit: number) => string): string[] {
  if (size < min) return [`must ${rule(min).replace("@", "at least")}`];
  return size > max ? [`must ${rule(max).replace("@", "at most")}`] : [];
}

/** An invalid pattern matches nothing, so that no unchecked value passes. */
function matches(pattern: string, text: string): boolean {
  try {
    return linearPattern(pattern).test(text);
  } catch {
    return false;
  }
}

function sameValue(a: ParameterValue, b: ParameterValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function toList(names: readonly string[]): string {
  return names.length > 0 ? names.join(", ") : "none";
}

/** Without inherited properties: a parameter may be called `constructor`. */
function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
