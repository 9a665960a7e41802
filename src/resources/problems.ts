import type { z } from "zod";

/** One thing that is wrong with an object. */
export interface Problem {
  /** Where: `spec.workflowRef.workflowId`, `status.conditions[0].type`. */
  readonly path: string;
  /** What is wrong, path included: `spec.targetResource is missing`. */
  readonly sentence: string;
}

type Issue = z.core.$ZodIssue;

/** The issues in plain words, unknown fields apart from the rest. No value is repeated: it may be a secret. */
export function problemsOf(issues: readonly Issue[]): { problems: Problem[]; strayFields: Problem[] } {
  const problems: Problem[] = [];
  const strayFields: Problem[] = [];
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys") problems.push(problemAt(issue.path, whatIsWrong(issue)));
    else for (const key of issue.keys) strayFields.push(problemAt([...issue.path, key], "is not a known field"));
  }
  return { problems, strayFields };
}

function problemAt(path: readonly PropertyKey[], wrong: string): Problem {
  const place = pathText(path);
  return { path: place, sentence: `${place || "the object"} ${wrong}` };
}

function pathText(path: readonly PropertyKey[]): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else if (/^[A-Za-z_]\w*$/.test(String(part))) text += text ? `.${String(part)}` : String(part);
    else text += `[${JSON.stringify(String(part))}]`;
  }
  return text;
}

function whatIsWrong(issue: Issue): string {
  if (issue.input === undefined) return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${withArticle(issue.expected)}, not ${typeName(issue.input)}`;
    case "invalid_value":
      return own(issue) ?? `must be ${alternatives(issue.values)}`;
    case "invalid_union":
      return own(issue) ?? `must be ${alternatives((issue as { options?: string[] }).options ?? [])}`;
    case "too_small":
      return own(issue) ?? `must ${size(issue.origin, Number(issue.minimum), "at least")}`;
    case "too_big":
      return own(issue) ?? `must ${size(issue.origin, Number(issue.maximum), "at most")}`;
    case "invalid_format":
      return own(issue) ?? "must be a time such as 2026-11-15T06:00:00Z";
    case "invalid_key":
      return issue.issues[0]?.message ?? "has no valid name";
    default:
      return issue.message;
  }
}

/** The sentence that the schema itself gives; zod's own begin with a capital. */
function own({ message }: Issue): string | undefined {
  return /^[a-z]/.test(message) ? message : undefined;
}

function alternatives(values: readonly unknown[]): string {
  return values.length === 1 ? String(values[0]) : `one of ${values.join(", ")}`;
}

function size(origin: string, limit: number, bound: "at least" | "at most"): string {
  if (origin === "string")
    return limit === 1 && bound === "at least" ? "not be empty" : `have ${bound} ${limit} characters`;
  if (origin === "array") return `have ${bound} ${limit} ${limit === 1 ? "entry" : "entries"}`;
  return `be ${bound} ${limit}`;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return withArticle(Array.isArray(value) ? "array" : typeof value);
}

function withArticle(type: string): string {
  const names: Record<string, string> = {
    string: "text",
    int: "a whole number",
    number: "a number",
    boolean: "true or false",
    array: "a list",
    object: "an object",
    record: "an object",
  };
  return names[type] ?? type;
}
