import { builtInKinds, type Kinds } from "./kinds.ts";
import type { KnownKind } from "./known-kind.ts";
import { parseTarget } from "./parse-target.ts";
import type { TargetReading } from "./target.ts";

/**
 * The target that was recorded as `text`, in canonical form. It is read also if its kind is no longer known: what is
 * running there, and who holds the target, does not end with the definition of the kind.
 */
export function parseRecordedTarget(text: string): TargetReading {
  const isNamespaced = text.split("/").length === 3;
  const kinds: Kinds = {
    find: (spelling) => builtInKinds.find(spelling) ?? recordedKind(spelling, isNamespaced),
    suggest: () => undefined,
  };
  return parseTarget(text, kinds);
}

/** A custom kind as canonical targets have it: lower-case singular, a dot, its group. */
function recordedKind(spelling: string, namespaced: boolean): KnownKind | undefined {
  const [, singular, group] = /^([a-z][a-z0-9-]*)\.([a-z0-9][a-z0-9.-]*)$/.exec(spelling) ?? [];
  if (singular === undefined || group === undefined) return undefined;
  return { singular, plural: singular, shortNames: [], groups: [group], namespaced, builtIn: false };
}
