import type { RemediationRequest, WorkflowExecution } from "../resources/index.ts";

/** Those of `executions` that were made for the incident. */
export function ownExecutions(
  { metadata }: RemediationRequest,
  executions: readonly WorkflowExecution[],
): WorkflowExecution[] {
  return executions.filter((execution) => isOwnedBy(execution, metadata.uid));
}

/** By uid: a name can be used again. */
export function isOwnedBy({ metadata }: Pick<WorkflowExecution, "metadata">, uid: string | undefined): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

/** Whether the incident has written down that it is its own. */
export function isKnown(incident: RemediationRequest, { metadata }: WorkflowExecution): boolean {
  return incident.status?.executionRefs?.some(({ uid }) => uid === metadata.uid) ?? false;
}
