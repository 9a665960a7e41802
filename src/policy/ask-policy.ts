import type { CatalogLookup, Diagnosis, Kinds, TargetReading, WorkflowRef } from "../resources/index.ts";
import { decide, type PolicyDecision } from "./decide.ts";
import type { ActionRequest, Situation } from "./request.ts";
import { diagnosedWorkflow, referencedWorkflow } from "./workflow-rules.ts";

type Defaults = Parameters<typeof referencedWorkflow>[2];

/** A request to the policy for one workflow on one target. */
export interface PolicyQuestion extends Omit<ActionRequest, "namespace" | "rulesTried"> {
  readonly namespace: string | undefined;
  /** The catalog's entry for the workflow. */
  readonly entry: CatalogLookup;
  /** The entry is checked against a diagnosis, with its target by the current kinds, or against the reference of an execution. */
  readonly usage:
    | { readonly diagnosis: Pick<Diagnosis, "parameters">; readonly target: TargetReading }
    | { readonly workflowRef: Partial<WorkflowRef>; readonly defaults: Defaults };
}

/** A request and the decision of the policy. */
export interface PolicyReport {
  readonly request: ActionRequest;
  readonly decision: PolicyDecision;
}

/** Decides a request by its catalog entry. */
export function askPolicy(
  { namespace, entry, usage, ...question }: PolicyQuestion,
  { kinds, ...situation }: Omit<Situation, "workflow"> & { readonly kinds: Kinds },
): PolicyReport {
  const request = { ...question, ...(namespace === undefined ? {} : { namespace }) };
  const workflow =
    "diagnosis" in usage
      ? diagnosedWorkflow(
          { text: question.target, reading: usage.target, parameters: usage.diagnosis.parameters },
          entry,
          { ...situation, kinds },
        )
      : referencedWorkflow(usage.workflowRef, entry, usage.defaults);
  return { request, decision: decide(request, { ...situation, workflow }) };
}
