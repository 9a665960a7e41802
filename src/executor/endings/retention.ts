import { findHistory, foldEnd, listEnds, neededUntilMs } from "../../policy/index.ts";
import type { ExecutionEnd, RemediationTarget, WorkflowExecution } from "../../resources/index.ts";
import type { ExecutorSettings, Snapshot } from "../snapshot.ts";

/**
 * Returns when the retention of an execution ends; undefined if the execution has not ended, or has an owner, for example an
 * incident: then it is deleted with its owner.
 */
export function retentionEndMs(
  { metadata, status }: WorkflowExecution,
  { retentionMs }: Pick<ExecutorSettings, "retentionMs">,
): number | undefined {
  if (metadata.ownerReferences?.length) return undefined;
  switch (status?.phase) {
    case "Completed":
    case "Failed":
      return Date.parse(status.completionTime) + retentionMs;
    case "Skipped":
      return Date.parse(status.skipDetails.skippedAt) + retentionMs;
    case "Pending":
    case "Running":
    case undefined:
      return undefined;
  }
}

/**
 * Returns until when an execution without an owner is kept. The record may still need it: deleting the execution ends its
 * cooldown, a lost record is rebuilt from executions, and an acknowledgement is an annotation of one.
 */
export function executionKeptUntilMs(
  { execution, plan, record, settings }: Snapshot,
  end: ExecutionEnd | undefined,
): number | undefined {
  const untilMs = retentionEndMs(execution, settings);
  if (untilMs === undefined || !end) return untilMs;
  const { workflowId } = execution.spec.workflowRef;
  const known = findHistory(record?.status, workflowId);
  const history = known ?? findHistory(foldEnd(undefined, { workflowId, end, backoff: settings.backoff }), workflowId);
  const cooldownMs = plan.kind === "valid" ? plan.cooldownMs : settings.cooldownMs;
  return history ? Math.max(untilMs, neededUntilMs(history, { cooldownMs, settings })) : untilMs;
}

/**
 * Returns until when the record of a target is kept after the last change of its history. Infinite while the target is held
 * or an acknowledgement is due, and if an approval was used: without the record it could be used for another run.
 */
export function recordKeptUntilMs(
  { metadata, status }: RemediationTarget,
  { settings, cooldownMs }: { settings: ExecutorSettings; cooldownMs: (workflowId: string) => number },
): number {
  if (status?.holder) return Number.POSITIVE_INFINITY;
  const histories = status?.workflows ?? [];
  const ends = histories.flatMap(listEnds);
  if (ends.some(({ approvalUid }) => approvalUid !== undefined)) return Number.POSITIVE_INFINITY;
  const changes = [
    metadata.creationTimestamp ?? "",
    ...ends.map(({ completedAt }) => completedAt),
    ...histories.flatMap(({ ack }) => (ack ? [ack.at] : [])),
  ];
  return Math.max(
    ...changes.map((at) => Date.parse(at) + settings.targetRetentionMs),
    ...histories.map((history) => neededUntilMs(history, { cooldownMs: cooldownMs(history.workflowId), settings })),
  );
}

/** The interval of checks while the end of a retention is unknown: not every change that ends it is an event. */
export const recheckMs = 24 * 3_600_000;
