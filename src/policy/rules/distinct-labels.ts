import type { Kinds, RemediationRequestSpec } from "../../resources/index.ts";
import { factsNotRead } from "./facts.ts";
import { placeholders } from "./fill.ts";
import { match } from "./match.ts";
import type { Rule } from "./rule.ts";

/**
 * Returns the labels that distinguish a signal from others about the same object, because its rule acts differently on each value:
 * `/var` and `/data` of one node are two incidents if the rule passes `{{ labels.mountpoint }}` to its workflow. The severity is
 * ignored, because it changes while a problem lasts. Facts are ignored, too: a rule that needs them may apply, and so may a later
 * one.
 */
export function distinctLabels(
  incident: RemediationRequestSpec,
  rules: readonly Rule[],
  kinds: Kinds,
): readonly string[] {
  const { signalLabels = {} } = incident;
  const distinct = new Set<string>();
  for (const rule of rules) {
    const { severity, ...given } = rule.match;
    const { kind } = match(given, incident, kinds, factsNotRead);
    if (kind === "differs") continue;
    const used = labelsUsedBy(rule);
    for (const label of used) distinct.add(label);
    // No later rule can apply: this one matches by values that are known here.
    const isCertain = kind === "matches" && severity === undefined && rule.unless === undefined;
    if (isCertain && used.every((label) => Object.hasOwn(signalLabels, label))) break;
  }
  return [...distinct].sort();
}

/** Returns the labels of a signal that a rule uses in its target and parameters. */
export function labelsUsedBy({ target, parameters = {} }: Rule): readonly string[] {
  const templates = [target, ...Object.values(parameters)].filter((value) => typeof value === "string");
  const names = templates.flatMap(placeholders).flatMap((name) => /^labels\.(.+)$/.exec(name)?.[1] ?? []);
  return [...new Set(names)];
}
