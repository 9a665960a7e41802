import { mustBe, type Problem, parse, type Wire, z } from "../schema/index.ts";
import type { Kind } from "./kind.ts";

/** A kind of object that has no custom resource definition, such as one of an aggregated API. */
export type DeclaredKind = Wire<typeof declaredKind>;

const declaredKind = z.strictObject(
  {
    group: text(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/, "route.openshift.io"),
    version: text(/^v\d+((alpha|beta)\d+)?$/, "v1").optional(),
    kind: text(/^[A-Z][A-Za-z0-9]{0,62}$/, "Route"),
    plural: text(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/, "routes"),
    scope: z.enum(["Namespaced", "Cluster"]),
  },
  { error: ({ code }) => (code === "invalid_type" ? "is not a structure" : undefined) },
);

const schema = z.array(declaredKind, { error: "is not a list" }).superRefine(checkNames);

function text(pattern: RegExp, example: string) {
  const rule = mustBe(`a name such as ${example}`);
  return z.string(rule).regex(pattern, rule);
}

/** Kinds that the configuration declares, as a list in the file. */
export function declaredKinds(): Kind<readonly DeclaredKind[]> {
  const expects =
    "a list of kinds such as - { group: route.openshift.io, version: v1, kind: Route, plural: routes, scope: Namespaced }";
  return {
    expects,
    isStructure: true,
    limits:
      "A list in the file: `- { group: route.openshift.io, version: v1, kind: Route, plural: routes, scope: Namespaced }`. `scope` is `Namespaced` or `Cluster`; `version` may be left out.",
    read(text) {
      const parsed = parse(schema, JSON.parse(text));
      if (parsed.kind === "valid") return { kind: "value", value: parsed.value };
      // A misspelt field is also missing under its right name.
      const first = parsed.problems.find(({ isUnknownField }) => isUnknownField) ?? parsed.problems[0];
      return { kind: "wrong", wrong: first ? describeProblem(first) : "", instead: expects };
    },
    print: (value) => value.map(({ kind, group }) => `${kind}.${group}`).join(", ") || "none",
  };
}

/** The name of an unknown field is not repeated: it may be a secret in the wrong place. */
function describeProblem({ keys: [index, field], wrong, isUnknownField }: Problem): string {
  if (index === undefined) return wrong;
  const entry = `has entry ${Number(index) + 1}`;
  if (isUnknownField) return `${entry}, which has a field other than ${Object.keys(declaredKind.shape).join(", ")}`;
  return field === undefined ? `${entry}, which ${wrong}` : `${entry}, whose ${field} ${wrong}`;
}

/** Two kinds of one group must not share a name: a target could mean either. */
function checkNames(
  entries: readonly Pick<DeclaredKind, "group" | "kind" | "plural">[],
  context: z.RefinementCtx,
): void {
  const taken = new Map<string, number>();
  for (const [index, { group, kind, plural }] of entries.entries()) {
    for (const name of new Set([kind.toLowerCase(), plural])) {
      const spelling = `${name}.${group}`;
      const other = taken.get(spelling);
      if (other !== undefined) context.addIssue(`has ${spelling} in entry ${other + 1} and in entry ${index + 1}`);
      taken.set(spelling, index);
    }
  }
}
