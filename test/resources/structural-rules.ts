import type { StructuralSchema } from "../../src/resources/index.ts";

const scalars = ["string", "integer", "number", "boolean"];
const known = new Set([
  ...["description", "type", "format", "enum", "default", "pattern", "minLength", "maxLength", "minimum", "maximum"],
  ...["exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "required", "properties", "items"],
  ...["additionalProperties", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"],
  ...["x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-validations"],
]);

/**
 * What an API server would refuse in `schema`, or silently read in another way than it was meant. `isRepeated` if it describes the
 * elements of a list or map without a limit.
 */
export function structuralViolations(schema: StructuralSchema, path = "root", isRepeated = false): string[] {
  const { type, properties, additionalProperties, items } = schema;
  const wrong: string[] = [];

  for (const key of Object.keys(schema)) if (!known.has(key)) wrong.push(`${path}: ${key} is not allowed`);
  if (!type && !schema["x-kubernetes-preserve-unknown-fields"]) wrong.push(`${path}: has no type`);
  if (type === "array" && !items) wrong.push(`${path}: a list needs items`);
  if (type !== "array" && items) wrong.push(`${path}: only a list has items`);
  if (type !== "object" && (properties || additionalProperties)) wrong.push(`${path}: only an object has properties`);
  if (properties && additionalProperties) wrong.push(`${path}: properties exclude additionalProperties`);
  if (additionalProperties && typeof additionalProperties !== "object") wrong.push(`${path}: must be a schema`);
  for (const name of schema.required ?? []) {
    if (!properties?.[name]) wrong.push(`${path}: requires ${name}, which it does not have`);
  }
  // The server estimates the cost of a rule by the number of elements that fit in a request, and refuses the definition.
  if (isRepeated && schema["x-kubernetes-validations"]) wrong.push(`${path}: a rule below an unlimited list or map`);
  wrong.push(...badRules(schema, path), ...badList(schema, path), ...badValues(schema, path));

  for (const [name, child] of Object.entries(properties ?? {})) {
    wrong.push(...structuralViolations(child, `${path}.${name}`, isRepeated));
    if (!child.description && path !== "root") wrong.push(`${path}.${name}: has no description`);
  }
  const isUnlimited = isRepeated || schema.maxItems === undefined;
  if (items) wrong.push(...structuralViolations(items, `${path}[]`, isUnlimited));
  if (typeof additionalProperties === "object") {
    wrong.push(...structuralViolations(additionalProperties, `${path}[*]`, true));
  }
  return wrong;
}

function badRules(schema: StructuralSchema, path: string): string[] {
  const wrong: string[] = [];
  for (const { rule, message, ...rest } of schema["x-kubernetes-validations"] ?? []) {
    if (!rule || !message || message.includes("\n")) wrong.push(`${path}: a rule needs CEL and a message of one line`);
    const unknown = Object.keys(rest).filter((key) => key !== "messageExpression");
    if (unknown.length > 0) wrong.push(`${path}: a rule has no ${unknown}`);
  }
  // Go's regular expressions have neither look-around nor back-references.
  if (/\(\?[=!<]|\\[1-9]/.test(schema.pattern ?? "")) wrong.push(`${path}: the pattern is not RE2`);
  return wrong;
}

function badList(schema: StructuralSchema, path: string): string[] {
  const { items } = schema;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const isScalar = scalars.includes(items?.type ?? "");
  switch (schema["x-kubernetes-list-type"]) {
    case "map":
      if (keys.length === 0 || items?.type !== "object") return [`${path}: a map list needs keys and objects`];
      return keys.flatMap((key) => {
        const field = items.properties?.[key];
        if (!field || !scalars.includes(field.type ?? "")) return [`${path}: the key ${key} is not a scalar field`];
        return items.required?.includes(key) || field.default !== undefined
          ? []
          : [`${path}: the key ${key} may be absent`];
      });
    case "set":
      return isScalar ? [] : [`${path}: a set list needs scalars`];
    default:
      return keys.length > 0 ? [`${path}: only a map list has keys`] : [];
  }
}

function badValues(schema: StructuralSchema, path: string): string[] {
  const jsType = { integer: "number", array: "object" }[schema.type as string] ?? schema.type;
  const values = [...(schema.enum ?? []), ...(schema.default === undefined ? [] : [schema.default])];
  return values.filter((value) => typeof value !== jsType).map((value) => `${path}: ${value} is not of its type`);
}
