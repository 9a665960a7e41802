/** A kind of Kubernetes object, and every way to spell it. All names are lower case. */
export interface KnownKind {
  readonly singular: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** Where the kind lives; empty is the core group. The first is its home today, the others are older ones. */
  readonly groups: readonly [string, ...string[]];
  readonly namespaced: boolean;
  /** In which objects of a custom kind are read if nothing else names a version; built-in kinds have v1. */
  readonly version?: string;
  /** Built-in kinds are written without their group. */
  readonly builtIn: boolean;
}

/** How a kind is written in a canonical target. */
export function kindText({ singular, groups, builtIn }: KnownKind): string {
  return builtIn ? singular : `${singular}.${groups[0]}`;
}
