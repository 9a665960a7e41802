import { Environment } from "@marcbachmann/cel-js";
import type { StructuralSchema, ValidationRule } from "../../src/resources/index.ts";

const cel = new Environment({ homogeneousAggregateLiterals: false })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn");

/** The violations of the CEL rules in `schema` by `value`, on its own or as the successor of `old`. */
export function brokenRules(schema: StructuralSchema, value: unknown, old?: unknown): string[] {
  if (value === undefined || value === null) return [];
  const broken = (schema["x-kubernetes-validations"] ?? []).filter((rule) => !holds(rule, value, old));
  const deeper: string[] = [];
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    deeper.push(...brokenRules(child, Reflect.get(value as object, name), old && Reflect.get(old as object, name)));
  }
  if (schema.items) for (const item of value as unknown[]) deeper.push(...brokenRules(schema.items, item));
  return [...broken.map((rule) => messageOf(rule, value, old)), ...deeper];
}

function holds({ rule }: ValidationRule, self: unknown, oldSelf: unknown): boolean {
  if (rule.includes("oldSelf") && oldSelf === undefined) return true;
  return cel.evaluate(rule, { self: plain(self), oldSelf: plain(oldSelf) }) === true;
}

function messageOf({ message, messageExpression }: ValidationRule, self: unknown, oldSelf: unknown): string {
  return messageExpression ? String(cel.evaluate(messageExpression, { self, oldSelf })) : (message ?? "");
}

/** As it would come over the wire: a field that is undefined is not there. */
function plain(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}
