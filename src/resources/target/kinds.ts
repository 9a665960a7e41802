import { builtIns } from "./built-in-kinds.ts";
import { type KnownKind, kindText } from "./known-kind.ts";

/** The kinds that a target may be of. */
export interface Kinds {
  /** The kind that is spelled `spelling`: `deploy`, `Deployment`, `deployments.apps`, `certificate.cert-manager.io`. */
  find(spelling: string): KnownKind | undefined;
  /** How to write a custom kind that was spelled without its group: `certificate.cert-manager.io`. */
  suggest(spelling: string): string | undefined;
}

/** A kind that a custom resource definition adds to the built-in ones. */
export interface CustomKind {
  readonly kind: string;
  readonly singular?: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly group: string;
  readonly namespaced: boolean;
}

/** The built-in kinds and `custom` ones. A custom kind is found with its group only, so it never hides a built-in one. */
export function kindsWith(custom: readonly CustomKind[]): Kinds {
  const bySpelling = new Map<string, KnownKind>();
  const byBareName = new Map<string, string>();

  for (const kind of custom) {
    const known = knownKind(kind);
    for (const name of [known.singular, kind.kind.toLowerCase(), known.plural, ...known.shortNames]) {
      bySpelling.set(`${name}.${known.groups[0]}`, known);
      byBareName.set(name, kindText(known));
    }
  }
  // Last, so that a definition in a built-in group cannot take a built-in kind's place.
  for (const known of builtIns) {
    for (const name of [known.singular, known.plural, ...known.shortNames]) {
      bySpelling.set(name, known);
      for (const group of known.groups) if (group) bySpelling.set(`${name}.${group}`, known);
    }
  }
  return {
    find: (spelling) => bySpelling.get(spelling.toLowerCase()),
    suggest: (spelling) => byBareName.get(spelling.toLowerCase()),
  };
}

function knownKind({ kind, singular, plural, shortNames = [], group, namespaced }: CustomKind): KnownKind {
  return {
    singular: (singular || kind).toLowerCase(),
    plural: plural.toLowerCase(),
    shortNames: shortNames.map((name) => name.toLowerCase()),
    groups: [group.toLowerCase()],
    namespaced,
    builtIn: false,
  };
}

/** The kinds that every cluster has. */
export const builtInKinds: Kinds = kindsWith([]);
