import { builtInKinds, type Kinds } from "./kinds.ts";
import { parseTarget } from "./parse-target.ts";
import { repositoryText } from "./repository-target.ts";
import type { TargetProblem } from "./target.ts";

/** The target of a pause, however it is spelled: a target or, as `git:host/path`, every branch of a repository. */
export function parsePauseTarget(
  text: string,
  kinds: Kinds = builtInKinds,
): { readonly kind: "target"; readonly text: string } | TargetProblem {
  const repository = text.startsWith("git:") ? repositoryText(text) : undefined;
  if (repository !== undefined) return { kind: "target", text: repository };
  const read = parseTarget(text, kinds);
  return read.kind === "target" ? { kind: "target", text: read.target.text } : read;
}
