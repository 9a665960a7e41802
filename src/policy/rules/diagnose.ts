import {
  type Diagnosis,
  type Kinds,
  type ParameterValue,
  parseTarget,
  type RemediationRequestSpec,
  targetOfObject,
} from "../../resources/index.ts";
import { fill } from "./fill.ts";
import { matches } from "./match.ts";
import type { Rule } from "./rule.ts";

/** What the rules say about an incident. `tried` tells of each rule why it did not apply. */
export type Analysis =
  | { readonly kind: "diagnosed"; readonly diagnosis: Diagnosis; readonly rule: string }
  | { readonly kind: "no-match"; readonly tried: readonly string[] };

/**
 * Finds what to do about an incident: the first rule that matches and whose target can be told. A rule that matches but
 * lacks something (a label that is not there) does not apply; guessing a target would act on the wrong thing.
 */
export function diagnose(incident: RemediationRequestSpec, rules: readonly Rule[], kinds: Kinds): Analysis {
  const tried: string[] = [];
  for (const rule of rules) {
    const outcome = apply(rule, incident, kinds);
    if (typeof outcome !== "string") return { kind: "diagnosed", diagnosis: outcome, rule: rule.name };
    tried.push(`${rule.name} (${outcome})`);
  }
  return { kind: "no-match", tried };
}

/** The diagnosis, or why there is none. */
function apply(rule: Rule, incident: RemediationRequestSpec, kinds: Kinds): Diagnosis | string {
  const mismatch = matches(rule.match, incident, kinds);
  if (mismatch) return mismatch;

  const target = targetOf(rule, incident, kinds);
  if (target.kind === "problem") return target.problem;
  const parameters: Record<string, ParameterValue> = {};
  for (const [name, value] of Object.entries(rule.parameters ?? {})) {
    const filled = typeof value === "string" ? fill(value, incident) : { kind: "text" as const, text: value };
    if (filled.kind === "missing") return `parameter ${name} needs ${filled.what}, which the signal does not have`;
    parameters[name] = filled.text;
  }
  return {
    target: target.text,
    workflowId: rule.workflow,
    ...(rule.parameters ? { parameters } : {}),
    rule: rule.name,
  };
}

type FoundTarget =
  | { readonly kind: "found"; readonly text: string }
  | { readonly kind: "problem"; readonly problem: string };

function targetOf({ target }: Rule, incident: RemediationRequestSpec, kinds: Kinds): FoundTarget {
  if (target === undefined) {
    const read = targetOfObject(incident.targetResource, kinds);
    return read.kind === "target" ? { kind: "found", text: read.target.text } : problem(`the subject ${read.problem}`);
  }
  const filled = fill(target, incident);
  if (filled.kind === "missing") return problem(`its target needs ${filled.what}, which the signal does not have`);
  const read = parseTarget(filled.text, kinds);
  return read.kind === "target" ? { kind: "found", text: read.target.text } : problem(`its target ${read.problem}`);
}

function problem(problem: string): FoundTarget {
  return { kind: "problem", problem };
}
