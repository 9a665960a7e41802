import type { RemediationRequest, WorkflowExecution } from "../../resources/index.ts";

/**
 * An execution that the incident has gone on without: it was deleted, and a create that came late, or twice, brought it
 * back under its old number. It was not admitted yet, so that removing it undoes nothing. One that runs is left alone:
 * it does just what the incident wants, which follows it.
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

/** Whether the incident does not know an execution of its own, and knows later ones. Their names are counted. */
export function isOutnumbered({ metadata, status }: RemediationRequest, { metadata: its }: WorkflowExecution): boolean {
  const known = status?.executionRefs ?? [];
  if (known.some(({ uid }) => uid === its.uid)) return false;
  const prefix = `${metadata.name}-`;
  const number = its.name?.startsWith(prefix) ? Number(its.name.slice(prefix.length)) : Number.NaN;
  return number <= known.length;
}
