import { z } from "zod";
import type { StructuralSchema } from "../../kube/index.ts";
import { mergeVariants } from "./merge-variants.ts";

/** The structural schema of `schema`. Refinements are left out; a schema without a structural form throws. */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  return structural(z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" }) as JsonSchema, "");
}

interface JsonSchema extends Omit<StructuralSchema, "properties" | "additionalProperties" | "items"> {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly oneOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
}

/** The supported keys, in the order in which they are written. */
const keys: readonly (keyof StructuralSchema)[] = [
  "description",
  "type",
  "format",
  "enum",
  "default",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "minItems",
  "maxItems",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-validations",
  "required",
  "properties",
  "additionalProperties",
  "items",
];

function structural(node: JsonSchema, path: string): StructuralSchema {
  const { oneOf, anyOf, properties, additionalProperties, items, ...plain } = node;
  // Alternatives of different types have no structural form: the server accepts any value there, and our own schema checks it.
  if (anyOf && !node["x-kubernetes-preserve-unknown-fields"])
    throw new TypeError(`${path}: a union has no common field`);

  const schema: StructuralSchema = {
    ...simplify(plain),
    ...(properties && { properties: mapValues(properties, (child, name) => structural(child, `${path}.${name}`)) }),
    ...(isSchema(additionalProperties) && { additionalProperties: structural(additionalProperties, `${path}[*]`) }),
    ...(items && { items: structural(items, `${path}[]`) }),
  };
  if (oneOf)
    return sortKeys(
      mergeVariants(
        schema,
        oneOf.map((variant) => structural(variant, path)),
        path,
      ),
      path,
    );
  return sortKeys(schema, path);
}

/** Without keywords that the format or the type implies. */
function simplify({ pattern, minimum, maximum, required, ...schema }: StructuralSchema): StructuralSchema {
  return {
    ...schema,
    ...(pattern !== undefined && schema.format !== "date-time" && { pattern }),
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    ...(required?.length && { required }),
  };
}

/** Strict objects have `false`, which Kubernetes does not support: it drops unknown fields, or rejects them on request. */
function isSchema(additional: JsonSchema["additionalProperties"]): additional is JsonSchema {
  return typeof additional === "object";
}

function sortKeys(schema: StructuralSchema, path: string): StructuralSchema {
  for (const key of Object.keys(schema)) {
    if (!keys.includes(key as keyof StructuralSchema)) throw new TypeError(`${path}: Kubernetes has no "${key}"`);
  }
  if (!schema.type && !schema["x-kubernetes-preserve-unknown-fields"]) throw new TypeError(`${path}: has no type`);
  return Object.fromEntries(keys.flatMap((key) => (key in schema ? [[key, schema[key]]] : [])));
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
