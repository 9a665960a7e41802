import type { Kind, ParsedSetting } from "./kinds.ts";

/** A kind of object that has no custom resource definition, such as one of an aggregated API. */
export interface DeclaredKind {
  readonly group: string;
  readonly version?: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
}

const fields: Readonly<Record<keyof DeclaredKind, { readonly pattern: RegExp; readonly example: string }>> = {
  group: {
    pattern: /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/,
    example: "route.openshift.io",
  },
  version: { pattern: /^v\d+((alpha|beta)\d+)?$/, example: "v1" },
  kind: { pattern: /^[A-Z][A-Za-z0-9]{0,62}$/, example: "Route" },
  plural: { pattern: /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/, example: "routes" },
  scope: { pattern: /^(Namespaced|Cluster)$/, example: "Namespaced or Cluster" },
};

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
      const entries = JSON.parse(text) as unknown;
      const problem = Array.isArray(entries) ? (firstProblem(entries) ?? duplicate(entries)) : "is not a list";
      return problem === undefined
        ? { kind: "value", value: entries as readonly DeclaredKind[] }
        : wrongEntry(problem, expects);
    },
    print: (value) => value.map(({ kind, group }) => `${kind}.${group}`).join(", ") || "none",
  };
}

/** What was written is repeated only as far as it can be a name: anything else may be a secret in the wrong place. */
function wrongEntry(problem: string, expects: string): ParsedSetting<never> {
  return { kind: "wrong", wrong: problem, instead: expects };
}

function firstProblem(entries: readonly unknown[]): string | undefined {
  for (const [place, entry] of entries.entries()) {
    const problem = entryProblem(entry);
    if (problem !== undefined) return `has entry ${place + 1}, which ${problem}`;
  }
  return undefined;
}

function entryProblem(entry: unknown): string | undefined {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return "is not a structure";
  const unknown = Object.keys(entry).some((field) => !Object.hasOwn(fields, field));
  if (unknown) return `has a field other than ${Object.keys(fields).join(", ")}`;
  for (const [field, { pattern, example }] of Object.entries(fields)) {
    const value = (entry as Record<string, unknown>)[field];
    if (value === undefined && field === "version") continue;
    if (value === undefined) return `has no ${field}`;
    if (typeof value !== "string" || !pattern.test(value)) return `has no valid ${field}, as in ${example}`;
  }
  return undefined;
}

/** Two kinds of one group must not share a name: a target could mean either. */
function duplicate(entries: readonly DeclaredKind[]): string | undefined {
  const taken = new Map<string, number>();
  for (const [place, { group, kind, plural }] of entries.entries()) {
    for (const name of new Set([kind.toLowerCase(), plural])) {
      const spelling = `${name}.${group}`;
      const other = taken.get(spelling);
      if (other !== undefined) return `has ${spelling} in entry ${other + 1} and in entry ${place + 1}`;
      taken.set(spelling, place);
    }
  }
  return undefined;
}
