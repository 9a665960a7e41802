import {
  checkParameters,
  type Diagnosis,
  type Kinds,
  type ParameterValue,
  parseTarget,
  type RemediationWorkflow,
  type RemediationWorkflowSpec,
  type Target,
  type TargetKind,
  targetKindProblem,
} from "../../resources/index.ts";
import type { PolicySettings } from "../settings.ts";
import { hasPlaceholder, replacePlaceholders } from "./fill.ts";
import { parseExpression, type Rule } from "./rule.ts";

/** The kinds and engines of the installation. */
export interface Installation {
  readonly kinds: Kinds;
  readonly settings: Pick<PolicySettings, "engines">;
}

/**
 * Finds why a diagnosis can never be applied: its workflow rejects the target or the parameters, or its engine is not configured.
 * Sentences without their full stop.
 */
export function diagnosisProblems(
  { target, parameters }: { readonly target: Target; readonly parameters: Diagnosis["parameters"] | undefined },
  { spec }: Pick<RemediationWorkflow, "spec">,
  { kinds, settings }: Installation,
): readonly string[] {
  return [
    ...targetProblems(target, spec, kinds),
    ...engineProblems(spec, settings),
    ...parameterProblems(spec.parameters, parameters),
  ];
}

export interface RuleContext extends Installation {
  /** The current entry of a workflow. */
  readonly workflow: (id: string) => Pick<RemediationWorkflow, "spec"> | undefined;
}

/**
 * Finds why a rule can never be applied to any signal: its workflow is missing, rejects every possible kind of target or the
 * parameters, or its engine is not configured. Sentences without their full stop.
 */
export function ruleProblems(rule: Rule, { workflow, kinds, settings }: RuleContext): readonly string[] {
  const entry = workflow(rule.workflow);
  if (!entry) return [`workflow ${rule.workflow} is not in the catalog`];
  const possible = possibleKinds(rule, kinds);
  const refusals = possible
    .map((kind) => targetKindProblem(entry.spec, kind, kinds))
    .filter((one) => one !== undefined);
  return [
    ...(refusals.length === possible.length ? refusals : []),
    ...engineProblems(entry.spec, settings),
    ...parameterProblems(withoutLimitsOnTemplates(entry.spec.parameters, rule), rule.parameters),
  ];
}

function targetProblems(target: Target, spec: RemediationWorkflowSpec, kinds: Kinds): readonly string[] {
  if (target.type === "repository") return [`target ${target.text} is a repository: workflows run on objects`];
  const problem = targetKindProblem(spec, target, kinds);
  return problem === undefined ? [] : [problem];
}

function engineProblems(
  { workflowId, engine }: RemediationWorkflowSpec,
  { engines }: Installation["settings"],
): readonly string[] {
  const needed = engine ?? engines?.default;
  if (!engines || !needed || engines.available.includes(needed)) return [];
  const available = engines.available.join(", ");
  return [`engine ${needed} of workflow ${workflowId} is not set up here: execution.engines is ${available}`];
}

function parameterProblems(
  schema: RemediationWorkflowSpec["parameters"],
  given: Readonly<Record<string, ParameterValue>> = {},
): readonly string[] {
  const checked = checkParameters(schema, given);
  return checked.kind === "invalid" ? checked.problems.map((problem) => `parameter ${problem}`) : [];
}

/** Returns the possible kinds of a rule's target; none if they are unknown before there is a signal. */
function possibleKinds({ target, match }: Rule, kinds: Kinds): readonly TargetKind[] {
  if (target !== undefined) {
    const sample = replacePlaceholders(target, sampleText);
    const kind = sample.split("/").at(-2);
    const reading = kind?.includes(sampleText) ? undefined : parseTarget(sample, kinds);
    return reading?.kind === "target" && reading.target.type === "object" ? [reading.target] : [];
  }
  const spellings = typeof match.kind === "string" ? [match.kind] : (match.kind ?? []);
  const known = spellings.map((spelling) =>
    parseExpression(spelling) === undefined ? kinds.find(spelling) : undefined,
  );
  // An expression, or a kind that a cluster may define later, can match any kind.
  if (known.includes(undefined)) return [];
  return known.flatMap((kind) => (kind ? [{ kind: kind.singular, group: kind.groups[0] ?? "" }] : []));
}

/** Replaces placeholders. No kind has this name. */
const sampleText = "filled-in";

/** Removes the limits of parameters with a template: its text is unknown before there is a signal, its type is known. */
function withoutLimitsOnTemplates(
  schema: RemediationWorkflowSpec["parameters"],
  { parameters = {} }: Rule,
): RemediationWorkflowSpec["parameters"] {
  if (!schema) return undefined;
  const isTemplate = (value: ParameterValue | undefined) => typeof value === "string" && hasPlaceholder(value);
  const properties = Object.entries(schema.properties).map(([name, parameter]) => {
    const isFilledIn = Object.hasOwn(parameters, name) && isTemplate(parameters[name]);
    return [name, isFilledIn ? { type: parameter.type } : parameter] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
