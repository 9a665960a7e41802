import {
  type CatalogDefaults,
  type CatalogLookup,
  catalogDifference,
  type Diagnosis,
  type RemediationWorkflow,
  type TargetReading,
  type WorkflowRef,
} from "../resources/index.ts";
import { parseDuration } from "../time/index.ts";
import type { WorkflowRules } from "./request.ts";
import { diagnosisProblems, type Installation } from "./rules/rule-problems.ts";

/** Returns the part of a catalog entry that the policy reads. */
export function workflowRules({ spec }: Pick<RemediationWorkflow, "spec">): WorkflowRules {
  const cooldownMs = spec.cooldown === undefined ? undefined : parseDuration(spec.cooldown);
  return {
    ...(cooldownMs === undefined ? {} : { cooldownMs }),
    ...(spec.observe === undefined ? {} : { observe: spec.observe }),
  };
}

interface DiagnosedUse {
  /** The target of the diagnosis. */
  readonly text: string;
  /** The target by the current kinds: its kind may have been deleted since the diagnosis. */
  readonly reading: TargetReading;
  readonly parameters: Diagnosis["parameters"];
}

/**
 * Returns the rules of the diagnosed workflow; undefined if the catalog does not have it. A diagnosis that can never be applied has
 * problems, so it is blocked at once, and no execution is created that would fail.
 */
export function diagnosedWorkflow(
  { text, reading, parameters }: DiagnosedUse,
  found: CatalogLookup,
  installation: Installation,
): WorkflowRules | undefined {
  if (found.kind === "unknown") return undefined;
  if (found.kind === "unusable") return { problems: [found.problem] };
  const problems =
    reading.kind === "problem"
      ? [`target ${text} ${reading.problem}`]
      : diagnosisProblems({ target: reading.target, parameters }, found.entry, installation);
  return { ...workflowRules(found.entry), ...(problems.length === 0 ? {} : { problems }) };
}

/** Returns the rules of the workflow of an execution; undefined if the catalog must have it and does not. */
export function referencedWorkflow(
  workflowRef: Partial<WorkflowRef>,
  found: CatalogLookup,
  defaults: CatalogDefaults & { readonly allowOutsideCatalog: boolean },
): WorkflowRules | undefined {
  if (found.kind === "unknown") return defaults.allowOutsideCatalog ? { outsideCatalog: true } : undefined;
  if (found.kind === "unusable") return { difference: found.problem };
  const difference = catalogDifference(workflowRef, found.entry, defaults);
  return { ...workflowRules(found.entry), ...(difference === undefined ? {} : { difference }) };
}
