import type { StructuralSchema, ValidationRule } from "../../kube/index.ts";
import { duplicateValue, type FieldProblem, forbiddenField, invalidValue, requiredField } from "../api/problem.ts";
import { isRecord, sameJson } from "../json/json.ts";
import { celValue } from "./cel-value.ts";
import { type Compiled, compileExpression } from "./compiled.ts";
import { fieldPath, fieldSchema } from "./schema.ts";
import { undefinedField } from "./undefined-field.ts";
import { typeName } from "./validate.ts";

/** A value, the stored value that it replaces (undefined on creation), and its path. */
interface ValueChange {
  readonly value: unknown;
  readonly old: unknown;
  readonly schema: StructuralSchema;
  readonly path: string;
}

/** The violations of the CEL rules of `schema` by `value`, given the stored value (undefined on creation). */
export function ruleProblems(compiled: Compiled, { schema, value, old }: Omit<ValueChange, "path">): FieldProblem[] {
  const problems: FieldProblem[] = [];
  collect(compiled, { schema, value, old, path: "" }, problems);
  return problems;
}

function collect(compiled: Compiled, change: ValueChange, problems: FieldProblem[]) {
  const { value, schema } = change;
  if (value === undefined || value === null) return;
  for (const rule of schema["x-kubernetes-validations"] ?? []) {
    const problem = ruleProblem(compiled, rule, change);
    if (problem) problems.push(problem);
  }
  if (!hasInnerRules(schema)) return;
  for (const part of parts(change)) collect(compiled, part, problems);
}

/** Whether `schema` has a rule anywhere: most have none, and need no walk. */
export function hasRules(schema: StructuralSchema): boolean {
  return Boolean(schema["x-kubernetes-validations"]?.length) || hasInnerRules(schema);
}

/** Schemas are read for every object that is written, and never change. */
const innerRules = new WeakMap<StructuralSchema, boolean>();

function hasInnerRules(schema: StructuralSchema): boolean {
  const known = innerRules.get(schema);
  if (known !== undefined) return known;
  const found = innerSchemas(schema).some(hasRules);
  innerRules.set(schema, found);
  return found;
}

function innerSchemas({ items, additionalProperties, properties }: StructuralSchema): readonly StructuralSchema[] {
  const other = typeof additionalProperties === "object" ? [additionalProperties] : [];
  return [...(items ? [items] : []), ...other, ...Object.values(properties ?? {})];
}

/** Why the expressions of `rule` cannot be evaluated for a value of `schema`; undefined if they can. */
export function ruleMistake({ rule, messageExpression }: ValidationRule, schema: StructuralSchema): string | undefined {
  for (const expression of [rule, ...(messageExpression === undefined ? [] : [messageExpression])]) {
    try {
      compileExpression(expression);
    } catch (error) {
      return `compilation failed: ${(error as Error).message}`;
    }
  }
  const missing = undefinedField(rule, schema);
  if (!missing) return undefined;
  const { name, column } = missing;
  const pointer = `${".".repeat(column - 1)}^`;
  return `compilation failed: ERROR: <input>:1:${column}: undefined field '${name}'\n | ${rule}\n | ${pointer}`;
}

/** The parts of a value that have a schema, each with its stored value; list elements are matched by their keys. */
function* parts({ value, old, schema, path }: ValueChange): Generator<ValueChange> {
  if (Array.isArray(value) && schema.items) {
    const before = Array.isArray(old) ? old : [];
    const keys = schema["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : undefined;
    for (const [i, item] of value.entries()) {
      const same = (other: unknown) =>
        isRecord(other) && isRecord(item) && keys?.every((key) => sameJson(other[key], item[key]));
      yield { value: item, old: keys ? before.find(same) : undefined, schema: schema.items, path: `${path}[${i}]` };
    }
  } else if (isRecord(value)) {
    for (const [name, part] of Object.entries(value)) {
      const field = fieldSchema(schema, name);
      if (!field) continue;
      yield { value: part, old: isRecord(old) ? old[name] : undefined, schema: field, path: fieldPath(path, name) };
    }
  }
}

function ruleProblem(compiled: Compiled, rule: ValidationRule, { value, old, schema, path }: ValueChange) {
  const isTransition = /\boldSelf\b/.test(rule.rule);
  if (isTransition && old === undefined && !rule.optionalOldSelf) return undefined;

  const context = { self: celValue(value, schema), oldSelf: old === undefined ? null : celValue(old, schema) };
  const where = rule.fieldPath ? fieldPath(path, rule.fieldPath.replace(/^\./, "")) : path;
  try {
    if (compiled.expression(rule.rule)(context) === true) return undefined;
  } catch (error) {
    return invalidValue(where, typeName(value), `rule evaluation error: ${(error as Error).message}: ${rule.rule}`);
  }
  return toProblem(rule, where, value, message(compiled, rule, context));
}

function message(compiled: Compiled, { rule, message: fixed, messageExpression }: ValidationRule, context: object) {
  if (messageExpression) {
    try {
      const text: unknown = compiled.expression(messageExpression)(context);
      if (typeof text === "string" && text.trim()) return text;
    } catch {
      // As on the real server, the fixed message is used instead.
    }
  }
  return fixed ?? `failed rule: ${rule}`;
}

function toProblem({ reason }: ValidationRule, where: string, value: unknown, text: string): FieldProblem {
  switch (reason) {
    case "FieldValueForbidden":
      return forbiddenField(where, text);
    case "FieldValueRequired":
      return requiredField(where, text);
    case "FieldValueDuplicate":
      return duplicateValue(where, JSON.stringify(typeName(value)));
    default:
      return invalidValue(where, typeName(value), text);
  }
}
