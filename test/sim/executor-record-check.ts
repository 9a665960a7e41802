import {
  annotationKeys,
  type ExecutionEnd,
  type RemediationTarget,
  type RemediationTargetStatus,
  type WorkflowHistory,
} from "../../src/resources/index.ts";
import type { ExecutionTrail } from "./executor-history.ts";
import { acknowledgedUntil, figuresOf, type PolicyRules } from "./executor-policy-model.ts";

/** What the server holds for one target: its record before and after a write, and its executions. */
export interface RecordFacts {
  readonly record: RemediationTarget;
  readonly previous: RemediationTarget | undefined;
  readonly trails: ReadonlyMap<string, ExecutionTrail>;
  readonly rules: PolicyRules;
}

/** How a record contradicts what became of the executions on its target; undefined if they agree. */
export function recordContradiction(facts: RecordFacts): string | undefined {
  const { status } = facts.record;
  if (!status) return undefined;
  for (const history of status.workflows ?? []) {
    const wrong =
      wrongEnds(history, facts) ??
      forgotten(history, facts) ??
      wrongAck(history, facts) ??
      wrongFigures(history, facts);
    if (wrong) return `${history.workflowId}: ${wrong}`;
  }
  for (const trail of facts.trails.values()) {
    const missing = trail.target === facts.record.metadata.name ? missingEnd(trail, status) : undefined;
    if (missing) return missing;
  }
  return undefined;
}

/** Every recorded end is in the target record, as long as there is one. */
export function missingEnd(trail: ExecutionTrail, status: RemediationTargetStatus | undefined): string | undefined {
  if (!status || trail.isGone || !isRecorded(trail) || !endOf(trail)) return undefined;
  const isThere = findHistory(status, trail.workflowId)?.recentEnds.some((end) => end.executionUid === trail.uid);
  return isThere ? undefined : `${trail.name} ended and was recorded, but its end is not in the record`;
}

/** A person's word on an execution that is still there is in the record, as long as there is one. */
export function missingAck(trail: ExecutionTrail, status: RemediationTargetStatus | undefined): string | undefined {
  const end = endOf(trail);
  if (!status || trail.isGone || !end || !isAcknowledged(trail)) return undefined;
  const until = acknowledgedUntil(findHistory(status, trail.workflowId) ?? {});
  return until >= Date.parse(end.completedAt) ? undefined : `${trail.name} was acknowledged; the record does not know`;
}

/**
 * The figures in the status of an execution that has just ended are those of the record with its end folded into it. The
 * record as it was at some moment since the execution is there: others may end while it is read.
 */
export function statusContradiction(
  trail: ExecutionTrail,
  versions: readonly (RemediationTargetStatus | undefined)[],
  rules: PolicyRules,
): string | undefined {
  const { status } = trail.object;
  const end = endOf(trail);
  if (!end || (status?.phase !== "Failed" && status?.phase !== "Completed")) return undefined;
  const summary = `${status.consecutiveFailures} failures, next ${nextAllowedIn(status)}`;
  if (status.phase === "Completed")
    return summary === "0 failures, next undefined" ? undefined : `it completed: ${summary}`;
  const fitting = versions.map((version) => {
    const history = findHistory(version, trail.workflowId);
    const ends = [...(history?.recentEnds ?? []), end];
    const { consecutiveFailures, nextAllowed } = figuresOf(ends, acknowledgedUntil(history ?? {}), rules);
    return `${consecutiveFailures} failures, next ${nextAllowed}`;
  });
  return fitting.includes(summary)
    ? undefined
    : `its status says ${summary}; right is ${[...new Set(fitting)].join(" or ")}`;
}

/** A deleted execution has its cooldown ended, as long as there is a record; not if it is deleted by force. */
export function cooldownLeft(trail: ExecutionTrail, status: RemediationTargetStatus | undefined): string | undefined {
  const end = findHistory(status, trail.workflowId)?.recentEnds.find(({ executionUid }) => executionUid === trail.uid);
  const isOver = trail.isForced || end?.outcome !== "Success" || end.cooldownEnded;
  return isOver ? undefined : `${trail.name} is gone, and its cooldown goes on`;
}

/** Every end is that of an execution of this workflow on this target, equal to the status of that execution, and occurs once. */
function wrongEnds({ workflowId, recentEnds }: WorkflowHistory, facts: RecordFacts): string | undefined {
  const { record, trails } = facts;
  const uids = recentEnds.map(({ executionUid }) => executionUid);
  if (new Set(uids).size !== uids.length) return "an end was folded twice";
  for (const end of recentEnds) {
    const trail = trails.get(end.executionUid);
    if (trail?.workflowId !== workflowId || trail.target !== record.metadata.name)
      return `${end.executionName} (${end.executionUid}) did not end with it here, but is folded`;
    if (!isToldRight(end, trail)) return `${end.executionName} is folded as ${JSON.stringify(end)}, which is not so`;
  }
  return undefined;
}

/** The effect of an execution that is gone without its end in the record is unknown: it may have done anything. */
function isToldRight(end: ExecutionEnd, trail: ExecutionTrail): boolean {
  const { cooldownEnded, signalFingerprint: _, incidentSince: __, ...facts } = end;
  if (cooldownEnded && !(trail.isLeaving && end.outcome === "Success")) return false;
  const isUnknown = end.outcome === "Failed" && end.wasExecutionFailure === true && end.reason === "Unknown";
  const own = endOf(trail);
  const isOwn = own && Object.entries(facts).every(([key, value]) => own[key as keyof ExecutionEnd] === value);
  return isOwn || (isUnknown && trail.isGone);
}

/** An entry of a record never changes, unless the record is deleted. */
function forgotten({ workflowId, recentEnds, ack }: WorkflowHistory, { previous }: RecordFacts): string | undefined {
  const before = findHistory(previous?.status, workflowId);
  for (const known of before?.recentEnds ?? []) {
    const now = recentEnds.find(({ executionUid }) => executionUid === known.executionUid);
    if (!now) return `the end of ${known.executionName} was in the record, and is no more`;
    if (JSON.stringify({ ...known, cooldownEnded: true }) !== JSON.stringify({ ...now, cooldownEnded: true }))
      return `the end of ${known.executionName} was ${JSON.stringify(known)}, and is ${JSON.stringify(now)}`;
    if (known.cooldownEnded && !now.cooldownEnded) return `the cooldown after ${known.executionName} was over`;
  }
  if (before && acknowledgedUntil(before) > acknowledgedUntil({ ack })) return "an acknowledgement was in the record";
  return undefined;
}

/** An acknowledgement is a person's word on an execution that had ended. */
function wrongAck({ workflowId, ack }: WorkflowHistory, { trails }: RecordFacts): string | undefined {
  if (!ack) return undefined;
  const trail = trails.get(ack.executionUid);
  const isSo = trail && isAcknowledged(trail) && trail.workflowId === workflowId;
  return isSo && endOf(trail)?.completedAt === ack.coversUntil
    ? undefined
    : "the record has an acknowledgement that was not made";
}

/** Every figure is what the ends say. */
function wrongFigures(history: WorkflowHistory, { rules }: RecordFacts): string | undefined {
  const right = figuresOf(history.recentEnds, acknowledgedUntil(history), rules);
  const summary: typeof right = {
    consecutiveFailures: history.consecutiveFailures,
    nextAllowed: history.nextAllowed,
    lastSuccess: history.lastSuccess?.executionUid,
    lastFailure: history.lastFailure?.executionUid,
    lastExecutionFailure: history.lastExecutionFailure?.executionUid,
  };
  const [text, rightText] = [JSON.stringify(summary), JSON.stringify(right)];
  return text === rightText ? undefined : `the record says ${text}; by its ends it is ${rightText}`;
}

/** How an execution ended, by its own status. */
function endOf({ object, uid, name }: ExecutionTrail): ExecutionEnd | undefined {
  const { status, metadata } = object;
  if (status?.phase !== "Completed" && status?.phase !== "Failed") return undefined;
  // An invalid execution that a person made does not count against the target.
  const isForIncident = (metadata.ownerReferences ?? []).length > 0;
  if (status.phase === "Failed" && status.failureDetails.reason === "ValidationError" && !isForIncident)
    return undefined;
  // Nor does one that was cancelled before it had acted, unless its run has used up an approval.
  const hasUsedApproval = status.approvalRef !== undefined && status.pipelineRunRef !== undefined;
  const isCancelled = status.phase === "Failed" && status.failureDetails.cancellation !== undefined;
  if (isCancelled && !status.failureDetails.wasExecutionFailure && !hasUsedApproval) return undefined;
  const end = {
    ...{ executionUid: uid, executionName: name, executionNamespace: metadata.namespace ?? "" },
    ...{ outcome: status.outcome, completedAt: status.completionTime },
    ...(status.approvalRef ? { approvalUid: status.approvalRef.uid } : {}),
  };
  if (status.phase === "Completed") return end;
  const { reason, wasExecutionFailure } = status.failureDetails;
  return { ...end, reason, wasExecutionFailure };
}

function nextAllowedIn(status: object): unknown {
  return "nextAllowedExecution" in status ? status.nextAllowedExecution : undefined;
}

function findHistory(status: RemediationTargetStatus | undefined, workflowId: string): WorkflowHistory | undefined {
  return status?.workflows?.find((history) => history.workflowId === workflowId);
}

function isRecorded({ object }: ExecutionTrail): boolean {
  return object.status?.conditions?.some(({ type, status }) => type === "Recorded" && status === "True") ?? false;
}

/** A cancellation without a block states that a retry is safe. */
export function isAcknowledged({ object }: ExecutionTrail): boolean {
  const { status, metadata } = object;
  const cancellation = status?.phase === "Failed" ? status.failureDetails.cancellation : undefined;
  return metadata.annotations?.[annotationKeys.acknowledge] !== undefined || cancellation?.blocks === false;
}
