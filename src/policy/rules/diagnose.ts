import {
  type Diagnosis,
  type Kinds,
  type ParameterValue,
  parseTarget,
  type RemediationRequestSpec,
  type Target,
  toObjectTarget,
} from "../../resources/index.ts";
import { findDeferral } from "./deferral.ts";
import { type Facts, factsNotRead, type Unreadable } from "./facts.ts";
import { fill } from "./fill.ts";
import { match } from "./match.ts";
import type { Rule } from "./rule.ts";

/** The diagnosis of an incident, or, in `tried`, why each rule did not apply. */
export type Analysis =
  | { readonly kind: "diagnosed"; readonly diagnosis: Diagnosis; readonly rule: string }
  | {
      readonly kind: "no-match";
      readonly tried: readonly string[];
      /** The last tried rule needs facts that are unknown: no later rule may apply in its place. */
      readonly unreadable?: true;
      /** Facts were read: the diagnosis can change although rules and signals do not. */
      readonly dependsOnFacts?: true;
    };

/** An analysis with the parsed target of the diagnosis. */
export type RuleAnalysis =
  | (Extract<Analysis, { kind: "diagnosed" }> & { readonly target: Target })
  | Extract<Analysis, { kind: "no-match" }>;

/**
 * Diagnoses an incident by the first rule that matches and has a target. A rule that matches but needs a missing value, such as a
 * label, does not apply: a target is never guessed. If it is unknown whether a rule applies, because an object cannot be read, no
 * later rule applies either, because the unknown rule may be an exception from it.
 */
export function diagnose(
  incident: RemediationRequestSpec,
  rules: readonly Rule[],
  kinds: Kinds,
  facts: Facts = factsNotRead,
): RuleAnalysis {
  const tried: string[] = [];
  const dependsOnFacts = facts === factsNotRead ? {} : ({ dependsOnFacts: true } as const);
  for (const rule of rules) {
    const outcome = apply(rule, incident, kinds, facts);
    if (outcome.kind === "applies") {
      return { kind: "diagnosed", diagnosis: outcome.diagnosis, target: outcome.target, rule: rule.name };
    }
    const because = outcome.kind === "unreadable" ? outcome.problem : outcome.because;
    tried.push(`${rule.name} (${because})`);
    if (outcome.kind === "unreadable") return { kind: "no-match", tried, unreadable: true, ...dependsOnFacts };
  }
  return { kind: "no-match", tried, ...dependsOnFacts };
}

/** Diagnoses an incident, and reads facts only if a rule that matches otherwise needs them. */
export async function diagnoseWithFacts(
  incident: RemediationRequestSpec,
  rules: readonly Rule[],
  kinds: Kinds,
  readFacts: () => Promise<Facts>,
): Promise<RuleAnalysis> {
  const analysis = diagnose(incident, rules, kinds);
  const needsFacts = analysis.kind === "no-match" && analysis.unreadable;
  return needsFacts ? diagnose(incident, rules, kinds, await readFacts()) : analysis;
}

type Applied =
  | { readonly kind: "applies"; readonly diagnosis: Diagnosis; readonly target: Target }
  | { readonly kind: "differs"; readonly because: string }
  | Unreadable;

function apply(rule: Rule, incident: RemediationRequestSpec, kinds: Kinds, facts: Facts): Applied {
  const matching = match(rule.match, incident, kinds, facts);
  if (matching.kind !== "matches") return matching;
  const exception = rule.unless ? match(rule.unless, incident, kinds, facts) : undefined;
  if (exception?.kind === "unreadable") return exception;
  if (exception?.kind === "matches") return differs("its exception under unless applies");

  const found = findTarget(rule, incident, kinds, facts);
  if (found.kind !== "target") return found;
  const { target } = found;
  const parameters: Record<string, ParameterValue> = {};
  for (const [name, value] of Object.entries(rule.parameters ?? {})) {
    const filled = typeof value === "string" ? fill(value, incident, facts) : { kind: "text" as const, text: value };
    if (filled.kind === "unreadable") return filled;
    if (filled.kind === "missing") return differs(`parameter ${name} needs ${filled.what}, which is not there`);
    parameters[name] = filled.text;
  }
  const deferral = findDeferral(rule, { incident, target: target.text, facts });
  if (deferral && "kind" in deferral) return deferral;
  return {
    kind: "applies",
    target,
    diagnosis: {
      target: target.text,
      workflowId: rule.workflow,
      ...(rule.parameters ? { parameters } : {}),
      rule: rule.name,
      ...(rule.observe ? { observe: true } : {}),
      ...(deferral ? { deferWhile: deferral } : {}),
    },
  };
}

type FoundTarget = { readonly kind: "target"; readonly target: Target } | Exclude<Applied, { kind: "applies" }>;

function findTarget({ target }: Rule, incident: RemediationRequestSpec, kinds: Kinds, facts: Facts): FoundTarget {
  if (target === undefined) {
    const read = toObjectTarget(incident.targetResource, kinds);
    return read.kind === "target" ? read : differs(`the subject ${read.problem}`);
  }
  const filled = fill(target, incident, facts);
  if (filled.kind === "unreadable") return filled;
  if (filled.kind === "missing") return differs(`its target needs ${filled.what}, which is not there`);
  const read = parseTarget(filled.text, kinds);
  return read.kind === "target" ? read : differs(`its target ${read.problem}`);
}

function differs(because: string): { readonly kind: "differs"; readonly because: string } {
  return { kind: "differs", because };
}
