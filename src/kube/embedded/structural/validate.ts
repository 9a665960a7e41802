import {
  duplicateValue,
  invalidValue,
  notSupported,
  type Problem,
  required,
  tooLong,
  tooMany,
  wrongType,
} from "../api/problem.ts";
import { isRecord, sameJson } from "../json/json.ts";
import { formatProblem } from "./formats.ts";
import { goMap } from "./go-map.ts";
import { compiledPattern } from "./patterns.ts";
import { fieldPath, fieldSchema, type Schema } from "./schema.ts";

/** What is wrong with `value` by `schema`. Worded and classified like the real server. */
export function schemaProblems(value: unknown, schema: Schema, path = ""): Problem[] {
  const problems: Problem[] = [];
  check(value, schema, path, problems);
  return problems;
}

function check(value: unknown, schema: Schema, path: string, problems: Problem[]): void {
  const mismatch = typeProblem(value, schema, path);
  if (mismatch) {
    problems.push(mismatch);
    return;
  }
  if (value === null) return;
  checkEnum(value, schema, path, problems);
  if (typeof value === "string") checkString(value, schema, path, problems);
  else if (typeof value === "number" || typeof value === "bigint") checkNumber(value, schema, path, problems);
  else if (Array.isArray(value)) checkList(value, schema, path, problems);
  else if (isRecord(value)) checkRecord(value, schema, path, problems);
  checkCombinations(value, schema, path, problems);
}

function typeProblem(value: unknown, schema: Schema, path: string): Problem | undefined {
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

function checkEnum(value: unknown, schema: Schema, path: string, problems: Problem[]) {
  if (!schema.enum || schema.enum.some((allowed) => sameJson(allowed, value))) return;
  problems.push(notSupported(path, value, schema.enum));
}

function checkString(value: string, schema: Schema, path: string, problems: Problem[]) {
  const { maxLength, minLength, pattern, format } = schema;
  if (maxLength !== undefined && lengthOf(value) > maxLength) problems.push(tooLong(path, maxLength));
  if (minLength !== undefined && lengthOf(value) < minLength) {
    problems.push(invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`));
  }
  if (pattern !== undefined && !compiledPattern(pattern).test(value)) {
    problems.push(invalidValue(path, value, `${path} in body should match '${pattern}'`));
  }
  const wrong = format === undefined ? undefined : formatProblem(value, format);
  if (wrong)
    problems.push(wrongType(path, value, `${path} in body must be of type ${wrong}: ${JSON.stringify(value)}`));
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function checkNumber(value: number | bigint, schema: Schema, path: string, problems: Problem[]) {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum)) {
    const bound = exclusiveMaximum ? "less than" : "less than or equal to";
    problems.push(invalidValue(path, value, `${path} in body should be ${bound} ${maximum}`));
  }
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum)) {
    const bound = exclusiveMinimum ? "greater than" : "greater than or equal to";
    problems.push(invalidValue(path, value, `${path} in body should be ${bound} ${minimum}`));
  }
  if (multipleOf !== undefined && !Number.isInteger(Number(value) / multipleOf)) {
    problems.push(invalidValue(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
}

function checkList(value: readonly unknown[], schema: Schema, path: string, problems: Problem[]) {
  const { maxItems, minItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) problems.push(tooMany(path, value.length, maxItems));
  if (minItems !== undefined && value.length < minItems) {
    problems.push(invalidValue(path, value.length, `${path} in body should have at least ${minItems} items`));
  }
  if (items) for (const [i, item] of value.entries()) check(item, items, `${path}[${i}]`, problems);
  checkUnique(value, schema, path, problems);
}

function checkUnique(value: readonly unknown[], schema: Schema, path: string, problems: Problem[]) {
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== "set" && listType !== "map") return;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const seen = new Set<string>();
  for (const [i, item] of value.entries()) {
    const shown = listType === "set" ? goMap(item) : goMap(pick(item, keys));
    if (seen.has(shown)) problems.push(duplicateValue(`${path}[${i}]`, shown));
    seen.add(shown);
  }
}

function pick(item: unknown, keys: readonly string[]): unknown {
  if (!isRecord(item)) return item;
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}

function checkRecord(value: Record<string, unknown>, schema: Schema, path: string, problems: Problem[]) {
  const { maxProperties, minProperties } = schema;
  const names = Object.keys(value);
  if (maxProperties !== undefined && names.length > maxProperties)
    problems.push(tooMany(path, names.length, maxProperties));
  if (minProperties !== undefined && names.length < minProperties) {
    problems.push(invalidValue(path, names.length, `${path} in body should have at least ${minProperties} properties`));
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) problems.push(required(fieldPath(path, name)));
  }
  for (const name of names) {
    const field = fieldSchema(schema, name);
    if (field) check(value[name], field, fieldPath(path, name), problems);
  }
}

function checkCombinations(value: unknown, { allOf, anyOf, oneOf, not }: Schema, path: string, problems: Problem[]) {
  const fits = (one: Schema) => schemaProblems(value, one, path).length === 0;
  const name = path || "object";
  for (const one of allOf ?? []) check(value, one, path, problems);
  if (anyOf && !anyOf.some(fits)) {
    problems.push(invalidValue(path, value, `${name} in body must validate at least one schema (anyOf)`));
  }
  if (oneOf && oneOf.filter(fits).length !== 1) {
    problems.push(invalidValue(path, value, `${name} in body must validate one and only one schema (oneOf)`));
  }
  if (not && fits(not)) problems.push(invalidValue(path, value, `${name} in body must not validate the schema (not)`));
}
