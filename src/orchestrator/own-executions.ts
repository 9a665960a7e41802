import type { RemediationRequest, WorkflowExecution } from "../resources/index.ts";

/** Returns the executions that were created for the incident. */
export function ownExecutions(
  { metadata }: RemediationRequest,
  executions: readonly WorkflowExecution[],
): WorkflowExecution[] {
  return executions.filter((execution) => isOwnedBy(execution, metadata.uid));
}

/** Compares uids, because a name can be used again. */
export function isOwnedBy({ metadata }: Pick<WorkflowExecution, "metadata">, uid: string | undefined): boolean {
  return metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) ?? false;
}

/** Whether the status of the incident refers to the execution. */
export function isKnown(incident: RemediationRequest, { metadata }: WorkflowExecution): boolean {
  return incident.status?.executionRefs?.some(({ uid }) => uid === metadata.uid) ?? false;
}
