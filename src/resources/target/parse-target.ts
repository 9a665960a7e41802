import { builtInKinds, type Kinds } from "./kinds.ts";
import { parseObjectTarget } from "./object-target.ts";
import { parseRepositoryTarget } from "./repository-target.ts";
import type { TargetReading } from "./target.ts";

/**
 * The target that `text` means, however it is spelled. A kind that is not among `kinds` is a problem rather than a
 * guess: two spellings of one target must never become two locks.
 */
export function parseTarget(text: string, kinds: Kinds = builtInKinds): TargetReading {
  return text.startsWith("git:") ? parseRepositoryTarget(text) : parseObjectTarget(text, kinds);
}
