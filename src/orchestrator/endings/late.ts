import type { RemediationRequest, WorkflowExecution } from "../../resources/index.ts";
import { isKnown } from "../snapshot.ts";

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
export function isOutnumbered(incident: RemediationRequest, execution: WorkflowExecution): boolean {
  if (isKnown(incident, execution)) return false;
  const { name = "" } = execution.metadata;
  const prefix = `${incident.metadata.name}-`;
  const number = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
  return number <= (incident.status?.executionRefs?.length ?? 0);
}
