import {
  type Diagnosis,
  type Kinds,
  type ParameterValue,
  parseTarget,
  type RemediationRequestSpec,
  type Target,
  toObjectTarget,
} from "../../resources/index.ts";
import { type Deferral, findDeferral } from "./deferral.ts";
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
      /** The last rule that was tried asks for facts that are not known: no rule after it may apply instead. */
      readonly unreadable?: true;
      /** Facts were read: the answer may change although neither rules nor signals do. */
      readonly dependsOnFacts?: true;
    };

/** An analysis by rules, with the target whose text the diagnosis has. */
export type RuleAnalysis =
  | (Extract<Analysis, { kind: "diagnosed" }> & { readonly target: Target })
  | Extract<Analysis, { kind: "no-match" }>;

/**
 * Finds what to do about an incident: the first rule that matches and has a target. A rule that matches but
 * lacks something (a label that is not there) does not apply; guessing a target would act on the wrong thing. If it is not
 * known whether a rule applies, because an object cannot be read, none does: a later rule may be just the one that this
 * rule is an exception from.
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

/** Diagnoses an incident, and reads facts only if a rule that fits otherwise asks for them. */
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
  const deferral: Deferral | Unreadable | undefined = findDeferral(rule, { incident, target: target.text, facts });
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
