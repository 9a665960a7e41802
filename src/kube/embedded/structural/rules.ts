import { Environment } from "@marcbachmann/cel-js";
import { duplicateValue, forbiddenField, invalidValue, type Problem, required } from "../api/problem.ts";
import { isRecord, sameJson } from "../json/json.ts";
import { celValue } from "./cel-value.ts";
import { fieldPath, fieldSchema, type Schema, type ValidationRule } from "./schema.ts";
import { undefinedField } from "./undefined-field.ts";
import { typeName } from "./validate.ts";

/** What the CEL rules of `schema` say of `value`, given what was stored before (undefined when it is created). */
export function ruleProblems(value: unknown, old: unknown, schema: Schema, path = ""): Problem[] {
  const problems: Problem[] = [];
  if (value === undefined || value === null) return problems;
  for (const rule of schema["x-kubernetes-validations"] ?? []) {
    const problem = ruleProblem(rule, value, old, schema, path);
    if (problem) problems.push(problem);
  }
  for (const [part, before, partSchema, partPath] of parts(value, old, schema, path)) {
    problems.push(...ruleProblems(part, before, partSchema, partPath));
  }
  return problems;
}

/** Whether `schema` has a rule anywhere: most have none, and need no walk. */
export function hasRules(schema: Schema): boolean {
  if (schema["x-kubernetes-validations"]?.length) return true;
  if (schema.items && hasRules(schema.items)) return true;
  if (typeof schema.additionalProperties === "object" && hasRules(schema.additionalProperties)) return true;
  return Object.values(schema.properties ?? {}).some(hasRules);
}

/** Why the expressions of `rule` cannot be run on a value of `schema`; undefined if they can. */
export function ruleMistake({ rule, messageExpression }: ValidationRule, schema: Schema): string | undefined {
  for (const expression of [rule, ...(messageExpression === undefined ? [] : [messageExpression])]) {
    try {
      compiled(expression);
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

/** The parts of a value that have a schema, each with what it was before; list elements are told apart by their keys. */
function* parts(
  value: unknown,
  old: unknown,
  schema: Schema,
  path: string,
): Generator<[part: unknown, before: unknown, schema: Schema, path: string]> {
  if (Array.isArray(value) && schema.items) {
    const before = Array.isArray(old) ? old : [];
    const keys = schema["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : undefined;
    for (const [i, item] of value.entries()) {
      const same = (other: unknown) =>
        isRecord(other) && isRecord(item) && keys?.every((key) => sameJson(other[key], item[key]));
      yield [item, keys ? before.find(same) : undefined, schema.items, `${path}[${i}]`];
    }
  } else if (isRecord(value)) {
    for (const [name, part] of Object.entries(value)) {
      const field = fieldSchema(schema, name);
      if (field) yield [part, isRecord(old) ? old[name] : undefined, field, fieldPath(path, name)];
    }
  }
}

function ruleProblem(rule: ValidationRule, value: unknown, old: unknown, schema: Schema, path: string) {
  const isTransition = /\boldSelf\b/.test(rule.rule);
  if (isTransition && old === undefined && !rule.optionalOldSelf) return undefined;

  const context = { self: celValue(value, schema), oldSelf: old === undefined ? null : celValue(old, schema) };
  const where = rule.fieldPath ? fieldPath(path, rule.fieldPath.replace(/^\./, "")) : path;
  try {
    if (compiled(rule.rule)(context) === true) return undefined;
  } catch (error) {
    return invalidValue(where, typeName(value), `rule evaluation error: ${(error as Error).message}: ${rule.rule}`);
  }
  return problemOf(rule, where, value, message(rule, context));
}

function message({ rule, message: fixed, messageExpression }: ValidationRule, context: object): string {
  if (messageExpression) {
    try {
      const text: unknown = compiled(messageExpression)(context);
      if (typeof text === "string" && text.trim()) return text;
    } catch {
      // A message that cannot be made gives way to the fixed one, as on the real server.
    }
  }
  return fixed ?? `failed rule: ${rule}`;
}

function problemOf({ reason }: ValidationRule, where: string, value: unknown, text: string): Problem {
  switch (reason) {
    case "FieldValueForbidden":
      return forbiddenField(where, text);
    case "FieldValueRequired":
      return required(where, text);
    case "FieldValueDuplicate":
      return duplicateValue(where, JSON.stringify(typeName(value)));
    default:
      return invalidValue(where, typeName(value), text);
  }
}

const environment = new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn");

const expressions = new Map<string, (context: object) => unknown>();
const mostKept = 1_000;

function compiled(expression: string): (context: object) => unknown {
  const known = expressions.get(expression);
  if (known) return known;
  const parsed = environment.parse(expression);
  const checked = parsed.check();
  if (!checked.valid) throw checked.error ?? new Error("the expression is not valid");
  if (expressions.size >= mostKept) expressions.clear();
  expressions.set(expression, parsed);
  return parsed;
}
