import { factsLimits, factsReader, readRulesFolder } from "../app/index.ts";
import type { Config } from "../config/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Facts, Rule } from "../policy/index.ts";
import { fixedKinds, type Kinds, type RemediationRequestSpec } from "../resources/index.ts";
import type { Clock } from "../time/index.ts";
import { CommandError } from "./command.ts";

/** The rules of a folder, or CommandError with all their problems. */
export async function rulesIn(directory: string): Promise<readonly Rule[]> {
  const { rules, problems } = await readRulesFolder(directory);
  if (problems.length === 0) return rules;
  throw new CommandError("invalid rules; fix these problems:", problems);
}

/** Reads the facts that rules need about the objects behind an incident. */
export async function readFacts(
  incident: RemediationRequestSpec,
  subject: string | undefined,
  options: { readonly client: KubeClient; readonly kinds: Kinds; readonly clock: Clock; readonly config: Config },
): Promise<Facts> {
  const { client, kinds, clock, config } = options;
  const read = factsReader({ client, kinds: fixedKinds(kinds), clock, ...factsLimits(config) });
  return read(incident, subject, new AbortController().signal);
}
