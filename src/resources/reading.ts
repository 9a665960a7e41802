import type { KubeObject } from "../kube/index.ts";
import { type Problem, parse } from "../schema/index.ts";
import type { Kind } from "./kinds/define-kind.ts";
import { kindSchema } from "./kinds/schemas/kind-schema.ts";

/** The result of checking a value that claims to be one of our objects. */
export type Reading<T> =
  | {
      readonly kind: "valid";
      /** With the defaults that an API server would fill in, and without `strayFields`, which it would drop. */
      readonly object: T;
      /** Unknown fields. An object of a newer version may have some; in a file that a person wrote they are mistakes. */
      readonly strayFields: readonly Problem[];
    }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** Checks `value` against the schema of `kind`, and reports all of its problems at once. */
export function read<T extends KubeObject>(kind: Kind<T>, value: unknown): Reading<T> {
  const schema = kindSchema(kind).object;
  const parsed = parse(schema, value);
  if (parsed.kind === "valid") return { kind: "valid", object: parsed.value as T, strayFields: [] };

  const strayFields = parsed.problems.filter(({ isUnknownField }) => isUnknownField);
  const problems = parsed.problems.filter(({ isUnknownField }) => !isUnknownField);
  if (problems.length > 0) return { kind: "invalid", problems: [...problems, ...strayFields] };
  const known = without(
    value,
    strayFields.map(({ keys }) => keys),
  );
  return { kind: "valid", object: schema.parse(known) as T, strayFields };
}

function without(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const copy = structuredClone(value);
  for (const path of paths) {
    const parent = path.slice(0, -1).reduce((node, key) => Reflect.get(node as object, key), copy);
    Reflect.deleteProperty(parent as object, path.at(-1) as PropertyKey);
  }
  return copy;
}
