import type { StructuralSchema } from "../../kube/index.ts";

/** The schema of the field `name`, by its own description or as a value of a map; undefined for an unknown field. */
export function fieldSchema(
  { properties, additionalProperties }: StructuralSchema,
  name: string,
): StructuralSchema | undefined {
  if (properties && Object.hasOwn(properties, name)) return properties[name];
  if (additionalProperties === true) return anything;
  return additionalProperties || undefined;
}

/** Accepts and keeps any value. */
export const anything: StructuralSchema = { "x-kubernetes-preserve-unknown-fields": true };

export function fieldPath(path: string, name: string): string {
  return path ? `${path}.${name}` : name;
}
