import type { RemediationRequest, WorkflowExecution } from "../../resources/index.ts";

/**
 * Finds an execution that was deleted, and that a late or duplicate create request created again with its old number. It is
 * not admitted yet, so deleting it has no effect on the target. A running one stays, and the incident follows it.
 */
export function lateExecution(
  incident: RemediationRequest,
  executions: readonly WorkflowExecution[],
): WorkflowExecution | undefined {
  return executions.find(
    (execution) =>
      isOutnumbered(incident, execution) &&
      execution.metadata.deletionTimestamp === undefined &&
      (execution.status?.phase ?? "Pending") === "Pending",
  );
}

/** Whether the incident has no reference to its execution, but to later ones. Their names are numbered. */
export function isOutnumbered({ metadata, status }: RemediationRequest, { metadata: its }: WorkflowExecution): boolean {
  const known = status?.executionRefs ?? [];
  if (known.some(({ uid }) => uid === its.uid)) return false;
  const prefix = `${metadata.name}-`;
  const number = its.name?.startsWith(prefix) ? Number(its.name.slice(prefix.length)) : Number.NaN;
  return number <= known.length;
}
