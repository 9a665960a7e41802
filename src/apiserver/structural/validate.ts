import { linearPattern, type StructuralSchema } from "../../kube/index.ts";
import {
  duplicateValue,
  type FieldProblem,
  invalidValue,
  notSupported,
  requiredField,
  tooLong,
  tooMany,
  wrongType,
} from "../api/problem.ts";
import { isRecord, sameJson, writeJson } from "../json/json.ts";
import { fieldPath, fieldSchema } from "./schema.ts";

interface SchemaCheck {
  readonly path?: string;
  /** Whether parts that are frozen were checked by this schema before. */
  readonly trustsFrozen?: boolean;
}

/** The problems of `value` by `schema`. Worded and classified like the real server. */
export function schemaProblems(
  value: unknown,
  schema: StructuralSchema,
  { path = "", trustsFrozen = false }: SchemaCheck = {},
): FieldProblem[] {
  const problems: FieldProblem[] = [];
  check(value, schema, path, { problems, trustsFrozen });
  return problems;
}

interface Findings {
  readonly problems: FieldProblem[];
  readonly trustsFrozen: boolean;
}

function check(value: unknown, schema: StructuralSchema, path: string, found: Findings): void {
  if (found.trustsFrozen && typeof value === "object" && value !== null && Object.isFrozen(value)) return;
  const mismatch = typeProblem(value, schema, path);
  if (mismatch) {
    found.problems.push(mismatch);
    return;
  }
  if (value === null) return;
  checkEnum(value, schema, path, found);
  if (typeof value === "string") checkString(value, schema, path, found);
  else if (typeof value === "number" || typeof value === "bigint") checkNumber(value, schema, path, found);
  else if (Array.isArray(value)) checkList(value, schema, path, found);
  else if (isRecord(value)) checkRecord(value, schema, path, found);
  checkCombinations(value, schema, path, found);
}

function typeProblem(value: unknown, schema: StructuralSchema, path: string): FieldProblem | undefined {
  if (value === null && schema.nullable) return undefined;
  const found = typeName(value);
  const wanted = schema["x-kubernetes-int-or-string"] ? ["integer", "string"] : schema.type ? [schema.type] : [];
  if (wanted.length === 0 || wanted.includes(found)) return undefined;
  if (found === "integer" && wanted.includes("number")) return undefined;
  return wrongType(path, found, `${path} in body must be of type ${wanted.join(",")}: ${JSON.stringify(found)}`);
}

/** The name of a value's type in JSON Schema. */
export function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "bigint") return "integer";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkEnum(value: unknown, schema: StructuralSchema, path: string, found: Findings) {
  if (!schema.enum || schema.enum.some((allowed) => sameJson(allowed, value))) return;
  found.problems.push(notSupported(path, value, schema.enum));
}

function checkString(value: string, schema: StructuralSchema, path: string, found: Findings) {
  const { maxLength, minLength, pattern, format } = schema;
  if (maxLength !== undefined && countCharacters(value) > maxLength) found.problems.push(tooLong(path, maxLength));
  if (minLength !== undefined && countCharacters(value) < minLength) {
    found.problems.push(invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`));
  }
  if (pattern !== undefined && !linearPattern(pattern).test(value)) {
    found.problems.push(invalidValue(path, value, `${path} in body should match '${pattern}'`));
  }
  const wrong = format === undefined ? undefined : formatProblem(value, format);
  if (wrong)
    found.problems.push(wrongType(path, value, `${path} in body must be of type ${wrong}: ${JSON.stringify(value)}`));
}

function countCharacters(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function checkNumber(value: number | bigint, schema: StructuralSchema, path: string, found: Findings) {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    const bound = exclusiveMaximum ? "less than" : "less than or equal to";
    found.problems.push(invalidValue(path, value, `${path} in body should be ${bound} ${maximum}`));
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    const bound = exclusiveMinimum ? "greater than" : "greater than or equal to";
    found.problems.push(invalidValue(path, value, `${path} in body should be ${bound} ${minimum}`));
  }
  if (multipleOf !== undefined && !Number.isInteger(Number(value) / multipleOf)) {
    found.problems.push(invalidValue(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
}

function checkList(value: readonly unknown[], schema: StructuralSchema, path: string, found: Findings) {
  const { maxItems, minItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) found.problems.push(tooMany(path, value.length, maxItems));
  if (minItems !== undefined && value.length < minItems) {
    found.problems.push(invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (items) for (const [i, item] of value.entries()) check(item, items, `${path}[${i}]`, found);
  checkUnique(value, schema, path, found);
}

function checkUnique(value: readonly unknown[], schema: StructuralSchema, path: string, found: Findings) {
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== "set" && listType !== "map") return;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const seen = new Set<string>();
  for (const [i, item] of value.entries()) {
    const shown = listType === "set" ? goMap(item) : goMap(pick(item, keys));
    if (seen.has(shown)) found.problems.push(duplicateValue(`${path}[${i}]`, shown));
    seen.add(shown);
  }
}

function pick(item: unknown, keys: readonly string[]): unknown {
  if (!isRecord(item)) return item;
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}

function checkRecord(value: Record<string, unknown>, schema: StructuralSchema, path: string, found: Findings) {
  const { maxProperties, minProperties } = schema;
  const names = Object.keys(value);
  if (maxProperties !== undefined && names.length > maxProperties)
    found.problems.push(tooMany(path, names.length, maxProperties));
  if (minProperties !== undefined && names.length < minProperties) {
    found.problems.push(
      invalidValue(path, names.length, `${path} in body should have at least ${minProperties} properties`),
    );
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) found.problems.push(requiredField(fieldPath(path, name)));
  }
  for (const name of names) {
    const field = fieldSchema(schema, name);
    if (field) check(value[name], field, fieldPath(path, name), found);
  }
}

function checkCombinations(
  value: unknown,
  { allOf, anyOf, oneOf, not }: StructuralSchema,
  path: string,
  found: Findings,
) {
  // What fits the whole schema need not fit each of these.
  const fits = (one: StructuralSchema) => schemaProblems(value, one, { path }).length === 0;
  const name = path || "object";
  for (const one of allOf ?? []) check(value, one, path, found);
  if (anyOf && !anyOf.some(fits)) {
    found.problems.push(invalidValue(path, value, `${name} in body must validate at least one schema (anyOf)`));
  }
  if (oneOf && oneOf.filter(fits).length !== 1) {
    found.problems.push(invalidValue(path, value, `${name} in body must validate one and only one schema (oneOf)`));
  }
  if (not && fits(not))
    found.problems.push(invalidValue(path, value, `${name} in body must not validate the schema (not)`));
}

const shapes: Readonly<Record<string, RegExp>> = {
  "date-time": /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  duration: /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d|w)\s*)+$|^0$/,
  email: /^[^\s@]+@[^\s@]+$/,
  ipv4: /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/,
};

/** The name of the format that `value` misses; undefined if it matches, or if the format is not checked. */
function formatProblem(value: string, format: string): string | undefined {
  const shape = Object.hasOwn(shapes, format) ? shapes[format] : undefined;
  if (!shape) return undefined;
  const isTime = format === "date-time" || format === "date";
  return shape.test(value) && !(isTime && Number.isNaN(Date.parse(value))) ? undefined : format;
}

/** A value as Go prints it with `%#v`: what the real server shows of list elements that occur twice. */
function goMap(value: unknown): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goMap).join(", ")}}`;
  if (!isRecord(value)) return writeJson(value);
  const fields = Object.keys(value).sort();
  return `map[string]interface {}{${fields.map((name) => `${JSON.stringify(name)}:${goMap(value[name])}`).join(", ")}}`;
}
