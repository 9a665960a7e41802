import {
  type Diagnosis,
  type Kinds,
  type RemediationWorkflow,
  remediationRequests,
  type Target,
} from "../../resources/index.ts";
import { decide, type PolicyDecision } from "../decide.ts";
import { observedRule } from "../request.ts";
import { openCauses } from "../rules/deferral.ts";
import { diagnose, type RuleAnalysis } from "../rules/diagnose.ts";
import type { Rule } from "../rules/rule.ts";
import { diagnosisProblems } from "../rules/rule-problems.ts";
import type { PolicySettings } from "../settings.ts";
import { workflowRules } from "../workflow-rules.ts";
import type { Expectation, Expected } from "./expectation.ts";

export interface CheckOptions {
  readonly rules: readonly Rule[];
  /** The current entry of a workflow. */
  readonly workflow: (id: string) => RemediationWorkflow | undefined;
  readonly kinds: Kinds;
  readonly settings: PolicySettings;
}

/** A field whose value is not the expected one. */
export interface Difference {
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export interface Checked {
  /** The rule that applied. */
  readonly rule: string | undefined;
  readonly differences: readonly Difference[];
}

/** Compares the decision of the rules and the policy with the expected one. */
export function checkExpectation(expectation: Expectation, options: CheckOptions): Checked {
  const { incident, given, expected, facts } = expectation;
  const analysis = diagnose(incident, options.rules, options.kinds, facts);
  if (analysis.kind === "no-match") {
    const found = `none: ${analysis.tried.join(", ") || "there are no rules"}`;
    const differences = expected.match ? [{ what: "rule", expected: expected.rule ?? "one that matches", found }] : [];
    return { rule: undefined, differences };
  }
  const { diagnosis, target, rule } = analysis;
  if (!expected.match) {
    const found = `rule ${rule}: ${diagnosis.workflowId} on ${diagnosis.target}`;
    return { rule, differences: [{ what: "rule", expected: "no match", found }] };
  }
  const decision = decideCase(analysis, { incident, given }, options);
  return {
    rule,
    differences: [...compare(expected, { rule, diagnosis, decision }), ...findMisfits(diagnosis, target, options)],
  };
}

type Diagnosed = Extract<RuleAnalysis, { kind: "diagnosed" }>;

function decideCase(
  { diagnosis, target }: Diagnosed,
  { incident, given }: Pick<Expectation, "incident" | "given">,
  options: CheckOptions,
): PolicyDecision {
  const { workflowId } = diagnosis;
  const namespace = target.type === "object" ? target.namespace : undefined;
  const entry = options.workflow(workflowId);
  const sinceMs = given.nowMs ?? Date.parse(incident.receivedTime);
  const { apiVersion, kind } = remediationRequests;
  const asking = { apiVersion, kind, metadata: {}, spec: incident, status: { phase: "Analyzing" as const, diagnosis } };
  const causes = openCauses(asking, given.incidents);
  const asked = { sinceMs, causes, ...observedRule(diagnosis) };
  const request = { target: target.text, workflowId, incident: asked, ...(namespace && { namespace }) };
  return decide(request, {
    record: given.record,
    workflow: entry && workflowRules(entry),
    pauses: given.pauses,
    settings: options.settings,
    nowMs: given.nowMs ?? 0,
  });
}

interface DiagnosedCase {
  readonly rule: string;
  readonly diagnosis: Diagnosis;
  readonly decision: PolicyDecision;
}

function compare(
  expected: Extract<Expected, { match: true }>,
  { rule, diagnosis, decision }: DiagnosedCase,
): Difference[] {
  const until = decision.verdict === "block" ? decision.clearsAtMs : undefined;
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["rule", expected.rule, rule],
    ["target", expected.target, diagnosis.target],
    ["workflow", expected.workflow, diagnosis.workflowId],
    ["parameters", expected.parameters && toSortedJson(expected.parameters), toSortedJson(diagnosis.parameters ?? {})],
    ["decision", expected.decision, decision.verdict === "allow" ? "allow" : decision.reason],
    ["until", time(expected.untilMs), time(until) ?? "no known time"],
  ];
  return pairs
    .filter(([, wanted, found]) => wanted !== undefined && wanted !== found)
    .map(([what, wanted, found]) => {
      const because = what === "decision" || what === "until" ? ` (${decision.message})` : "";
      return { what, expected: String(wanted), found: `${found}${because}` };
    });
}

/** Finds why the diagnosis can never be applied, which is an error whatever the expectation is. */
function findMisfits(diagnosis: Diagnosis, target: Target, { workflow, ...installation }: CheckOptions): Difference[] {
  const { workflowId, parameters } = diagnosis;
  const entry = workflow(workflowId);
  const what = `workflow ${workflowId}`;
  if (!entry) return [{ what, expected: "is in the catalog", found: "is not" }];
  const problems = diagnosisProblems({ target, parameters }, entry, installation);
  return problems.map((found) => ({ what, expected: "can be run so", found }));
}

function toSortedJson(parameters: object): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1))),
  );
}

function time(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
