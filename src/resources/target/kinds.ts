import { builtIns, type KnownKind, kindText } from "./built-in-kinds.ts";

/** The kinds that a target may have. A snapshot: it never changes. */
export interface Kinds {
  /** The kind with this name in any spelling: `deploy`, `Deployment`, `deployments.apps`, `certificate.cert-manager.io`. */
  find(spelling: string): KnownKind | undefined;
  /** The full name of a custom kind that was written without its group: `certificate.cert-manager.io`. */
  suggest(spelling: string): string | undefined;
  /** The reason why custom kinds may be missing, without a full stop; undefined if all of them are known. */
  readonly incomplete?: string | undefined;
}

/** A kind besides the built-in ones: defined by a custom resource definition, or declared in the configuration. */
export interface CustomKind {
  readonly kind: string;
  readonly singular?: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly group: string;
  readonly version?: string;
  readonly namespaced: boolean;
}

/** The built-in kinds and `custom` ones. A custom kind is found only with its group, so it never hides a built-in one. */
export function kindsWith(custom: readonly CustomKind[], incomplete?: string): Kinds {
  const bySpelling = new Map<string, KnownKind>();
  const byBareName = new Map<string, string>();
  const add = (names: readonly string[], known: KnownKind) => {
    for (const name of names) {
      bySpelling.set(`${name}.${known.groups[0]}`, known);
      byBareName.set(name, kindText(known));
    }
  };

  // Sorted, because replicas receive definitions in different orders and must agree on each name.
  const sorted = [...custom].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const kinds = sorted.map((kind) => ({ known: knownKind(kind), bare: kind.kind.toLowerCase() }));
  for (const { known } of kinds) add(known.shortNames, known);
  // After all short names, so that the short name of one kind cannot hide another kind.
  for (const { known, bare } of kinds) add([known.singular, bare, known.plural], known);
  // Last, so that a definition in a built-in group cannot hide a built-in kind.
  for (const known of builtIns) {
    for (const name of [known.singular, known.plural, ...known.shortNames]) {
      bySpelling.set(name, known);
      for (const group of known.groups) if (group) bySpelling.set(`${name}.${group}`, known);
    }
  }
  return {
    find: (spelling) => bySpelling.get(spelling.toLowerCase()),
    suggest: (spelling) => byBareName.get(spelling.toLowerCase()),
    incomplete,
  };
}

function sortKey({ group, plural }: CustomKind): string {
  return `${group}/${plural}`.toLowerCase();
}

function knownKind({ kind, singular, plural, shortNames = [], group, version, namespaced }: CustomKind): KnownKind {
  return {
    singular: (singular || kind).toLowerCase(),
    plural: plural.toLowerCase(),
    shortNames: shortNames.map((name) => name.toLowerCase()),
    groups: [group.toLowerCase()],
    namespaced,
    ...(version === undefined ? {} : { version }),
    builtIn: false,
  };
}

/** The kinds that every cluster has. */
export const builtInKinds: Kinds = kindsWith([]);
