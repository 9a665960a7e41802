import { isRecord } from "../json/json.ts";
import { fieldSchema, type Schema } from "./schema.ts";

/** A value as CEL sees it: integers are int, fractions double, date-times timestamps; by the schema, not by the digits. */
export function celValue(value: unknown, schema: Schema | undefined): unknown {
  if (typeof value === "number") {
    const whole = schema?.type === "integer" || schema?.["x-kubernetes-int-or-string"] || schema?.type === undefined;
    return whole && Number.isInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "string") return schema?.format === "date-time" ? new Date(value) : value;
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema?.items));
  if (!isRecord(value)) return value;

  const result: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    result[name] = celValue(part, schema && fieldSchema(schema, name));
  }
  return result;
}
