import type { KnownKind } from "./built-in-kinds.ts";
import { builtInKinds, type Kinds } from "./kinds.ts";
import { parseObjectTarget } from "./object-target.ts";
import { parseRepositoryTarget, repositoryText } from "./repository-target.ts";
import type { TargetProblem, TargetReading } from "./target.ts";

/**
 * Parses a target in any spelling. A kind that is not among `kinds` is a problem, not a guess: two spellings of one target must
 * never become two locks.
 */
export function parseTarget(text: string, kinds: Kinds = builtInKinds): TargetReading {
  return text.startsWith("git:") ? parseRepositoryTarget(text) : parseObjectTarget(text, kinds);
}

/** Parses the target of a pause in any spelling: a target or, as `git:host/path`, every branch of a repository. */
export function parsePauseTarget(
  text: string,
  kinds: Kinds = builtInKinds,
): { readonly kind: "target"; readonly text: string } | TargetProblem {
  const repository = text.startsWith("git:") ? repositoryText(text) : undefined;
  if (repository !== undefined) return { kind: "target", text: repository };
  const read = parseTarget(text, kinds);
  return read.kind === "target" ? { kind: "target", text: read.target.text } : read;
}

/**
 * Parses a recorded target in canonical form, also if its kind is no longer known: the run and the holder of a target outlive
 * the definition of its kind.
 */
export function parseRecordedTarget(text: string): TargetReading {
  const isNamespaced = text.split("/").length === 3;
  const kinds: Kinds = {
    find: (spelling) => builtInKinds.find(spelling) ?? recordedKind(spelling, isNamespaced),
    suggest: () => undefined,
  };
  return parseTarget(text, kinds);
}

/** A custom kind in a canonical target: lower-case singular, a dot, its group. */
function recordedKind(spelling: string, namespaced: boolean): KnownKind | undefined {
  const [, singular, group] = /^([a-z][a-z0-9-]*)\.([a-z0-9][a-z0-9.-]*)$/.exec(spelling) ?? [];
  if (singular === undefined || group === undefined) return undefined;
  return { singular, plural: singular, shortNames: [], groups: [group], namespaced, builtIn: false };
}
