import { isJsonObject, type JsonObject } from "../../kube/index.ts";
import { compileExpression, type Expression } from "./expression.ts";

/** How the fields of a signal are derived from a sender's payload, as it is written in the settings. */
export type WrittenMapping = JsonObject;

/** Expressions in order: the first with a value applies. */
export interface Alternatives {
  readonly expressions: readonly Expression[];
  /** Whether an expression that reads an absent field has no value; otherwise that is a problem. */
  readonly mayBeAbsent: boolean;
}

/** Names with expressions, or one expression whose value is a map of names and values. */
export type MappedTexts =
  | { readonly kind: "each"; readonly texts: ReadonlyMap<string, Alternatives> }
  | { readonly kind: "all"; readonly expression: Alternatives };

export interface Mapping {
  /** Returns the list of items. Without it, the body is the list or the only item. */
  readonly items?: Expression;
  /** Must be true for each item; otherwise the payload has another format, which is a problem. */
  readonly require?: Expression;
  /** An item for which this is false is ignored. */
  readonly when?: Expression;
  readonly fields: ReadonlyMap<MappedField, Alternatives>;
  readonly labels: MappedTexts;
  readonly annotations: MappedTexts;
}

const mappedFields = ["name", "target", "severity", "status", "series", "firingTime", "endTime"] as const;
export type MappedField = (typeof mappedFields)[number];

export type MappingReading =
  | { readonly kind: "valid"; readonly mapping: Mapping }
  /** Sentences that begin with the field. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Compiles a mapping and reports all of its problems at once. */
export function readMapping(written: unknown): MappingReading {
  if (!isJsonObject(written)) return { kind: "invalid", problems: ["is not an object with name, target and the like"] };
  const problems: string[] = [];
  for (const key of Object.keys(written)) {
    if (!knownKeys.includes(key))
      problems.push(`${key} is not a field of a mapping: there are ${knownKeys.join(", ")}`);
  }
  if (written["name"] === undefined) problems.push("name is missing");
  const compile = (field: string, text: unknown, options = {}) => compileField(text, { field, problems, ...options });
  const fields = new Map<MappedField, Alternatives>();
  for (const field of mappedFields) {
    if (written[field] !== undefined) fields.set(field, compile(field, written[field]));
  }
  const single = (field: "items" | "require" | "when", options = {}) =>
    written[field] === undefined ? undefined : compile(field, written[field], options).expressions[0];
  const items = single("items", { mayIterateBody: true });
  const [require, when] = [single("require"), single("when")];
  const mapping: Mapping = {
    ...(items ? { items } : {}),
    ...(require ? { require } : {}),
    ...(when ? { when } : {}),
    fields,
    labels: compileTexts(written["labels"], { field: "labels", problems }),
    annotations: compileTexts(written["annotations"], { field: "annotations", problems }),
  };
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "valid", mapping };
}

/** Replaces fields of a built-in mapping, and adds to its labels and annotations. */
export function overrideMapping(builtIn: WrittenMapping, own: WrittenMapping): WrittenMapping {
  const merged: Record<string, unknown> = { ...builtIn, ...own };
  for (const field of ["labels", "annotations"]) {
    const [before, after] = [builtIn[field], own[field]];
    if (isJsonObject(before) && isJsonObject(after)) merged[field] = { ...before, ...after };
  }
  return merged;
}

const knownKeys: readonly string[] = ["items", "require", "when", ...mappedFields, "labels", "annotations"];

interface FieldContext {
  readonly field: string;
  readonly problems: string[];
  readonly mayIterateBody?: boolean;
  readonly mayBeAbsent?: boolean;
}

function compileField(written: unknown, place: FieldContext): Alternatives {
  const { field, problems, mayIterateBody = false } = place;
  const texts: readonly unknown[] = Array.isArray(written) ? written : [written];
  const expressions = texts.flatMap((text) => {
    if (typeof text !== "string" || text === "") {
      problems.push(`${field} is not an expression, or a list of expressions of which the first with a value counts`);
      return [];
    }
    try {
      return [compileExpression(text, { mayIterateBody })];
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      problems.push(`${field} ${JSON.stringify(text)}: ${error.message}`);
      return [];
    }
  });
  return { expressions, mayBeAbsent: place.mayBeAbsent ?? Array.isArray(written) };
}

function compileTexts(written: unknown, place: FieldContext): MappedTexts {
  if (written === undefined) return { kind: "each", texts: new Map() };
  if (!isJsonObject(written))
    return { kind: "all", expression: compileField(written, { ...place, mayBeAbsent: true }) };
  const texts = new Map(
    Object.entries(written).map(([name, one]) => {
      return [name, compileField(one, { ...place, field: `${place.field}.${name}`, mayBeAbsent: true })] as const;
    }),
  );
  return { kind: "each", texts };
}
