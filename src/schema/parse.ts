import type { z } from "zod";
import { nearest } from "./nearest.ts";

/** One problem of a value from outside. */
export interface Problem {
  /** The keys that lead to it: `["status", "conditions", 0, "type"]`. */
  readonly keys: readonly (string | number)[];
  /** The keys as text: `spec.workflowRef.workflowId`, `status.conditions[0].type`; empty for the whole value. */
  readonly path: string;
  /** The problem without the path: `is missing`. */
  readonly wrong: string;
  /** Path and problem: `spec.targetResource is missing`. */
  readonly sentence: string;
  /** Present if the schema has no such field. A newer version may have it; in a file written by hand it is a mistake. */
  readonly isUnknownField?: true;
}

export type Parsed<T> =
  | { readonly kind: "valid"; readonly value: T }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** The output of a schema, deeply readonly, with optional fields that are absent rather than undefined. */
export type Wire<S extends z.ZodType> = DeepReadonly<z.output<S>>;

type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<Exclude<T[K], undefined>> }
    : T;

/** Checks a value from outside and reports all of its problems at once. No value is repeated: it may be a secret. */
export function parse<S extends z.ZodType>(schema: S, value: unknown): Parsed<Wire<S>> {
  const parsed = schema.safeParse(value, { reportInput: true, error: listKnownFields });
  if (parsed.success) return { kind: "valid", value: parsed.data as Wire<S> };
  return { kind: "invalid", problems: toProblems(parsed.error.issues) };
}

/** The value that a text in JSON has; undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of a schema for values of the wrong type; one that is absent is still reported as missing. */
export function mustBe(rule: string): { readonly error: (issue: { readonly input?: unknown }) => string | undefined } {
  return { error: ({ input }) => (input === undefined ? undefined : `must be ${rule}`) };
}

type Issue = z.core.$ZodIssue;

const knownFields = "Known fields: ";

/** An issue about unknown fields does not list the known ones, but its schema does. */
function listKnownFields({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  const { shape } = (inst?._zod.def ?? {}) as { readonly shape?: object };
  return code === "unrecognized_keys" && shape ? `${knownFields}${Object.keys(shape).join(", ")}` : undefined;
}

function toProblems(issues: readonly Issue[], above: readonly PropertyKey[] = []): readonly Problem[] {
  return onePerWrongType(issues).flatMap((issue) => {
    const keys = [...above, ...issue.path];
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => {
        return { ...toProblem([...keys, key], unknownField(key, issue)), isUnknownField: true as const };
      });
    }
    // Problems below the value show which of the alternatives was meant.
    const meant = issue.code === "invalid_union" ? issue.errors.find(areBelow) : undefined;
    return meant ? toProblems(meant, keys) : [toProblem(keys, describeIssue(issue))];
  });
}

/** A value of the wrong type has one problem: zod would also report the length of a text that should be a list. */
function onePerWrongType(issues: readonly Issue[]): readonly Issue[] {
  const wrongTypes = new Set(issues.flatMap(({ code, path }) => (code === "invalid_type" ? pathText(path) : [])));
  return issues.filter(({ code, path }) => code === "invalid_type" || !wrongTypes.has(pathText(path)));
}

function areBelow(issues: readonly Issue[]): boolean {
  return issues.length > 0 && issues.every(({ path }) => path.length > 0);
}

function toProblem(keys: readonly PropertyKey[], wrong: string): Problem {
  const path = pathText(keys);
  const named = keys.map((key) => (typeof key === "number" ? key : String(key)));
  return { keys: named, path, wrong, sentence: `${path || "the object"} ${wrong}` };
}

function pathText(keys: readonly PropertyKey[]): string {
  let text = "";
  for (const key of keys) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[A-Za-z_]\w*$/.test(String(key))) text += text ? `.${String(key)}` : String(key);
    else text += `[${JSON.stringify(String(key))}]`;
  }
  return text;
}

function unknownField(key: string, issue: Issue): string {
  const known = issue.message.replace(knownFields, "");
  const meant = nearest(key, known.split(", "));
  return ownMessage(issue) ?? `is not a known field; ${meant ? `did you mean ${meant}?` : `there is ${known}`}`;
}

function describeIssue(issue: Issue): string {
  const own = ownMessage(issue);
  if (own !== undefined) return own;
  if (issue.input === undefined) return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${withArticle(issue.expected)}, not ${typeName(issue.input)}`;
    case "invalid_value":
      return `must be ${alternatives(issue.values)}`;
    case "invalid_union":
      return `must be ${alternatives((issue as { options?: string[] }).options ?? [])}`;
    case "too_small":
      return `must ${size(issue.origin, Number(issue.minimum), "at least")}`;
    case "too_big":
      return `must ${size(issue.origin, Number(issue.maximum), "at most")}`;
    case "invalid_format":
      return "must be a time such as 2026-11-15T06:00:00Z";
    case "invalid_key":
      return issue.issues[0]?.message ?? "has no valid name";
    default:
      return issue.message;
  }
}

/** The message that a schema of ours gives; those of zod begin with a capital. */
function ownMessage({ message }: Issue): string | undefined {
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

/** The problem of text that is not YAML. The parser's own messages quote the text, which may hold a password. */
export function syntaxProblem(code: string): string {
  const known: Readonly<Record<string, string>> = {
    BAD_INDENT:
      "the indentation does not fit the lines above, or a bracket is not closed. Indent by two spaces per level.",
    BAD_SCALAR_START: "the value begins with a character that YAML reserves. Put the value in 'single quotes'.",
    BLOCK_AS_IMPLICIT_KEY: "there is a second colon in the line. Put the value in 'single quotes'.",
    DUPLICATE_KEY: "the name is there twice. Keep one of the two.",
    MISSING_CHAR: 'a quote is not closed, or a colon is missing. Write "name: value".',
    MULTIPLE_DOCS: 'a second document begins here. Keep one, and drop the "---" line.',
    TAB_AS_INDENT: "the line is indented with a tab. Indent with spaces.",
    TAG_RESOLVE_FAILED: "tags such as !env have no meaning here. Write the value itself.",
  };
  return (
    known[code] ?? 'this is not valid YAML. Write "name: value" lines, indented below the name that they belong to.'
  );
}
