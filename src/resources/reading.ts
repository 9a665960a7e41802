import type { KubeObject } from "../kube/index.ts";
import type { Kind } from "./define-kind.ts";
import { type Problem, problemsOf } from "./problems.ts";

/** What came of looking at something that claims to be one of our objects. */
export type Reading<T> =
  | {
      readonly kind: "valid";
      /** With the defaults that an API server would fill in, and without `strayFields`, which it would drop. */
      readonly object: T;
      /** Fields we do not know. An object of a newer version may have some; in a file that a person wrote they are mistakes. */
      readonly strayFields: readonly Problem[];
    }
  | { readonly kind: "invalid"; readonly problems: readonly Problem[] };

/** Looks at everything the schema of `kind` says about `value`, and reports all that is wrong at once. */
export function read<T extends KubeObject>(kind: Kind<T>, value: unknown): Reading<T> {
  const parsed = kind.object.safeParse(value, { reportInput: true });
  if (parsed.success) return { kind: "valid", object: parsed.data as T, strayFields: [] };

  const strays = parsed.error.issues.flatMap((issue) =>
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [],
  );
  const { problems, strayFields } = problemsOf(parsed.error.issues);
  if (problems.length > 0) return { kind: "invalid", problems: [...problems, ...strayFields] };
  return { kind: "valid", object: kind.object.parse(without(value, strays)) as T, strayFields };
}

function without(value: unknown, paths: readonly (readonly PropertyKey[])[]): unknown {
  const copy = structuredClone(value);
  for (const path of paths) {
    const parent = path.slice(0, -1).reduce((node, key) => Reflect.get(node as object, key), copy);
    Reflect.deleteProperty(parent as object, path.at(-1) as PropertyKey);
  }
  return copy;
}
