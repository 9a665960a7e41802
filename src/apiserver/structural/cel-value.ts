import type { StructuralSchema } from "../../kube/index.ts";
import { isRecord } from "../json/json.ts";
import { fieldSchema } from "./schema.ts";

/** A value for CEL: by the schema, not by its digits, a number is an int or a double and a date-time is a timestamp. */
export function celValue(value: unknown, schema: StructuralSchema | undefined): unknown {
  if (typeof value === "number") {
    const whole = schema?.type === "integer" || schema?.["x-kubernetes-int-or-string"] || schema?.type === undefined;
    return whole && Number.isInteger(value) ? BigInt(value) : value;
  }
  if (typeof value === "string") return schema?.format === "date-time" ? new Date(value) : value;
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema?.items));
  if (!isRecord(value)) return value;

  const result: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(value)) {
    const convert = () => celValue(part, schema && fieldSchema(schema, name));
    if (typeof part === "object" && part !== null) defineLazily(result, name, convert);
    else result[name] = convert();
  }
  return result;
}

/** Most rules read one or two fields: other fields, however large, are not converted. */
function defineLazily(object: object, name: string, convert: () => unknown) {
  const get = () => {
    const value = convert();
    Object.defineProperty(object, name, { value, enumerable: true });
    return value;
  };
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true });
}
