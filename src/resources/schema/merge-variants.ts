import { isDeepStrictEqual } from "node:util";
import type { StructuralSchema, ValidationRule } from "../../kube/index.ts";
import { celField, celIsOneOf } from "./rules.ts";

/**
 * One object schema for the variants of a discriminated union. Structural schemas have no unions of objects: the fields
 * of all variants are merged, and a CEL rule per variant lists the fields that it must have.
 */
export function mergeVariants(
  union: StructuralSchema,
  variants: readonly StructuralSchema[],
  path: string,
): StructuralSchema {
  const properties: Record<string, StructuralSchema> = {};
  for (const variant of variants) {
    for (const [name, schema] of Object.entries(variant.properties ?? {})) {
      properties[name] = mergeSchemas(properties[name] ?? schema, schema, `${path}.${name}`);
    }
  }
  const required = (variants[0]?.required ?? []).filter((name) => variants.every((v) => v.required?.includes(name)));
  const discriminator = required.find((name) => isDiscriminator(name, variants));
  if (!discriminator) throw new TypeError(`${path}: no field distinguishes the variants`);

  const rules = variants.flatMap((variant) => variantRules(variant, { discriminator, required, properties }));
  const own = union["x-kubernetes-validations"] ?? [];
  return { ...union, type: "object", required, properties, "x-kubernetes-validations": [...own, ...rules] };
}

/** Merges the schemas of a field in two variants, which may differ only in the allowed values. */
function mergeSchemas(one: StructuralSchema, other: StructuralSchema, path: string): StructuralSchema {
  const { enum: values, description, ...rest } = one;
  const { enum: otherValues, description: _, ...otherRest } = other;
  if (!isDeepStrictEqual(rest, otherRest)) throw new TypeError(`${path}: differs between the variants`);
  return {
    ...(description !== undefined && { description }),
    ...rest,
    ...(values && otherValues && { enum: [...new Set([...values, ...otherValues])] }),
  };
}

function isDiscriminator(name: string, variants: readonly StructuralSchema[]): boolean {
  const values = variants.map((variant) => variant.properties?.[name]?.enum);
  return values.every(Boolean) && new Set(values.flat()).size === values.flat().length;
}

interface Union {
  readonly discriminator: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, StructuralSchema>>;
}

function variantRules(variant: StructuralSchema, { discriminator, required, properties }: Union): ValidationRule[] {
  const which = enumValues(variant, discriminator);
  const needed = (variant.required ?? []).filter((name) => !required.includes(name));
  const narrowed = Object.keys(variant.properties ?? {}).filter((name) => {
    return name !== discriminator && !isDeepStrictEqual(variant.properties?.[name]?.enum, properties[name]?.enum);
  });
  if (needed.length === 0 && narrowed.length === 0) return [];

  const conditions = [
    ...needed.map((name) => `has(${celField(name)})`),
    ...narrowed.map((name) => {
      const isAllowed = celIsOneOf(celField(name), enumValues(variant, name));
      return variant.required?.includes(name) ? isAllowed : `(!has(${celField(name)}) || ${isAllowed})`;
    }),
  ];
  const facts = [
    ...needed.filter((name) => !narrowed.includes(name)),
    ...narrowed.map((name) => `${name} ${joinWords(enumValues(variant, name), "or")}`),
  ];
  return [
    {
      rule: `!(${celIsOneOf(celField(discriminator), which)}) || (${conditions.join(" && ")})`,
      message: `${discriminator} ${joinWords(which, "or")} needs ${joinWords(facts, "and")}`,
    },
  ];
}

/** `a, b and c` */
function joinWords(words: readonly string[], conjunction: "and" | "or"): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} ${conjunction} ${words.at(-1)}`;
}

function enumValues(schema: StructuralSchema, name: string): string[] {
  return (schema.properties?.[name]?.enum ?? []).map(String);
}
