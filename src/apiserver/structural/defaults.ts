import type { StructuralSchema } from "../../kube/index.ts";
import { type Draft, isRecord, toDraft } from "../json/json.ts";
import { fieldSchema } from "./schema.ts";

/**
 * Fills in the defaults of `schema`, in place; a frozen value is stored, and has them. A null where none is allowed counts as
 * absent, as on the real server: it is replaced by the default, or removed.
 */
export function applyDefaults(value: unknown, schema: StructuralSchema): void {
  if (Object.isFrozen(value)) return;
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) applyDefaults(item, schema.items);
    return;
  }
  if (!isRecord(value)) return;

  dropNulls(value, schema);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    if (field.default !== undefined && !Object.hasOwn(value, name)) value[name] = toDraft(field.default);
    if (Object.hasOwn(value, name)) applyDefaults(value[name], field);
  }
  if (typeof schema.additionalProperties === "object") {
    for (const [name, part] of Object.entries(value)) {
      if (!Object.hasOwn(schema.properties ?? {}, name)) applyDefaults(part, schema.additionalProperties);
    }
  }
}

function dropNulls(value: Draft, schema: StructuralSchema) {
  for (const name of Object.keys(value)) {
    if (value[name] !== null) continue;
    const field = fieldSchema(schema, name);
    if (field && !field.nullable && describesType(field)) delete value[name];
  }
}

function describesType(field: StructuralSchema): boolean {
  return field.type !== undefined || field["x-kubernetes-int-or-string"] === true;
}

/** Whether `schema` has a default. Objects stored before it was added need it when they are read. */
export function hasDefaults(schema: StructuralSchema): boolean {
  if (schema.default !== undefined) return true;
  if (schema.items && hasDefaults(schema.items)) return true;
  if (typeof schema.additionalProperties === "object" && hasDefaults(schema.additionalProperties)) return true;
  return Object.values(schema.properties ?? {}).some(hasDefaults);
}
