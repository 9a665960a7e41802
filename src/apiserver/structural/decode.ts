import type { StructuralSchema } from "../../kube/index.ts";
import { type Draft, isRecord } from "../json/json.ts";
import { decodeScalar, mismatch } from "./decode-scalar.ts";
import { fieldPath, fieldSchema } from "./schema.ts";

/**
 * Removes the fields that are not in `schema` from `value`, in place, and adds their paths to `unknown`. A frozen value is
 * stored, and has no such fields.
 */
export function prune(value: unknown, schema: StructuralSchema, path: string, unknown: string[]): void {
  if (Object.isFrozen(value)) return;
  if (Array.isArray(value)) {
    if (schema.items) for (const [i, item] of value.entries()) prune(item, schema.items, `${path}[${i}]`, unknown);
    return;
  }
  if (!isRecord(value)) return;

  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  for (const key of Object.keys(value)) {
    const known = fieldSchema(schema, key) ?? embeddedField(schema, key);
    if (known) prune(value[key], known, fieldPath(path, key), unknown);
    else if (!keepsUnknown && describesFields(schema)) {
      unknown.push(fieldPath(path, key));
      delete value[key];
    }
  }
}

function embeddedField(schema: StructuralSchema, key: string): StructuralSchema | undefined {
  if (!schema["x-kubernetes-embedded-resource"]) return undefined;
  return ["apiVersion", "kind", "metadata"].includes(key)
    ? { "x-kubernetes-preserve-unknown-fields": true }
    : undefined;
}

function describesFields({ type, properties, additionalProperties }: StructuralSchema): boolean {
  return type === "object" || properties !== undefined || additionalProperties !== undefined;
}

/**
 * Reads `value` as Go reads JSON into a struct: unknown fields and nulls are dropped, a wrong type is refused, times are
 * normalised. Changes `value` in place and returns its replacement. A frozen value is stored, and was decoded before.
 */
export function decodeValue(value: unknown, schema: StructuralSchema, path: string, unknown: string[]): unknown {
  if (typeof value === "object" && value !== null && Object.isFrozen(value)) return value;
  if (value === null && !schema.nullable) return undefined;
  if (schema["x-kubernetes-preserve-unknown-fields"] && !schema.properties) return value;
  if (schema.type === "object") return decodeRecord(value, schema, path, unknown);
  if (schema.type === "array") return decodeList(value, schema, path, unknown);
  return decodeScalar(value, schema, path);
}

function decodeRecord(value: unknown, schema: StructuralSchema, path: string, unknown: string[]): Draft {
  if (!isRecord(value)) throw mismatch(value, "object", path);

  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true;
  for (const key of Object.keys(value)) {
    const known = fieldSchema(schema, key);
    if (!known) {
      if (keepsUnknown) continue;
      unknown.push(fieldPath(path, key));
      delete value[key];
      continue;
    }
    const part = decodeValue(value[key], known, fieldPath(path, key), unknown);
    if (part === undefined) delete value[key];
    else value[key] = part;
  }
  return value;
}

function decodeList(value: unknown, schema: StructuralSchema, path: string, unknown: string[]): unknown[] {
  if (!Array.isArray(value)) throw mismatch(value, "array", path);
  const items = schema.items;
  if (!items) return value;
  return value.map((item, i) => {
    const part = decodeValue(item, items, `${path}[${i}]`, unknown);
    return part === undefined ? emptyValue(items) : part;
  });
}

/** What Go makes of a null in a list: the empty value of the list's type. Only optional values stay null. */
function emptyValue({ type }: StructuralSchema): unknown {
  switch (type) {
    case "object":
      return {};
    case "array":
      return [];
    case "string":
      return "";
    case "integer":
    case "number":
      return 0;
    case "boolean":
      return false;
    default:
      return null;
  }
}
