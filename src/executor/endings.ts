import type { RunFailure } from "../engines/index.ts";
import type { KubeObject } from "../kube/index.ts";
import { foldEnd, historyOf, isVerifiedName } from "../policy/index.ts";
import {
  type Acknowledgement,
  annotationKeys,
  classifyFailure,
  type ExecutionEnd,
  type FailureReason,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
} from "../resources/index.ts";
import { formatDuration } from "../time/index.ts";
import type { Turn } from "./action.ts";
import { summarise } from "./failure-summary.ts";
import type { Seen, SeenRun } from "./seen.ts";
import { refTo, startTimeOf, summaryOf } from "./statuses.ts";

type Completed = Extract<WorkflowExecutionStatus, { phase: "Completed" }>;
type Failed = Extract<WorkflowExecutionStatus, { phase: "Failed" }>;

/** The run succeeded. */
export function completed(seen: Seen, run: SeenRun, state: { readonly completedAt: string }): Turn {
  const startTime = startedAt(seen) ?? startTimeOf(run) ?? iso(seen.nowMs);
  const completionTime = new Date(state.completedAt).toISOString();
  const durationMs = elapsed(startTime, completionTime);
  const status: Completed = {
    phase: "Completed",
    startTime,
    completionTime,
    duration: formatDuration(durationMs),
    outcome: "Success",
    pipelineRunRef: refTo(run),
    pipelineRunStatus: summaryOf(run),
    consecutiveFailures: 0,
  };
  return {
    actions: [
      { do: "set-status", status },
      { do: "announce", what: { kind: "completed", durationMs } },
    ],
  };
}

/** The run failed, or is gone. */
export function failed(seen: Seen, failure: RunFailure): Turn {
  const { status, metadata } = seen.execution;
  const before = status?.phase === "Running" ? status : undefined;
  const run = seen.run?.owner.kind === "us" ? seen.run : undefined;
  const startTime = before?.startTime ?? (run && startTimeOf(run));
  const completionTime = run?.state.kind === "failed" ? new Date(run.state.completedAt).toISOString() : iso(seen.nowMs);
  const durationMs = startTime === undefined ? undefined : elapsed(startTime, completionTime);
  const { reason, wasExecutionFailure } = classifyFailure(failure.reason, failure);
  const failureDetails = {
    reason,
    message: failure.message,
    ...(failure.failedTaskName === undefined ? {} : { failedTaskName: failure.failedTaskName }),
    ...(failure.failedStepName === undefined ? {} : { failedStepName: failure.failedStepName }),
    ...(failure.exitCode === undefined ? {} : { exitCode: failure.exitCode }),
    failedAt: completionTime,
    ...(durationMs === undefined ? {} : { executionTimeBeforeFailure: formatDuration(durationMs) }),
    naturalLanguageSummary: summarise({ execution: seen.execution, failure, reason, wasExecutionFailure, durationMs }),
    wasExecutionFailure,
    requiresManualReview: wasExecutionFailure,
  };
  const bare: Failed = {
    phase: "Failed",
    ...(startTime === undefined ? {} : { startTime }),
    completionTime,
    ...(durationMs === undefined ? {} : { duration: formatDuration(durationMs) }),
    outcome: "Failed",
    ...(run ? { pipelineRunRef: refTo(run), pipelineRunStatus: summaryOf(run) } : {}),
    ...(!run && before ? { pipelineRunRef: before.pipelineRunRef } : {}),
    failureDetails,
  };
  const next = { ...bare, ...historyAfter(seen, { ...seen.execution, status: bare, metadata }) };
  return {
    actions: [
      { do: "set-status", status: next },
      { do: "announce", what: { kind: "failed", details: failureDetails, durationMs } },
    ],
  };
}

/** Nothing was started: trying again is safe, after a while. */
export function failedBefore(seen: Seen, refusal: { readonly reason: FailureReason; readonly message: string }): Turn {
  return failed(seen, { ...refusal, anythingStarted: false });
}

/** Why the run failed. If we stopped it ourselves, why we did. */
export function failureOfRun({ failure, cancelledBecause }: SeenRun): RunFailure {
  const found = failure ?? { reason: "Unknown", message: "the engine gave no reason", anythingStarted: true };
  if (cancelledBecause === "Timeout") {
    return { ...found, reason: "Timeout", message: "the run took longer than it may, and was cancelled" };
  }
  if (cancelledBecause === "ExecutionDeleted") {
    return { ...found, reason: "Cancelled", message: "the execution was deleted, and its run cancelled" };
  }
  if (cancelledBecause === "TargetLost") {
    const message =
      "the target's record was deleted before the run had started, and with it the right to act on the target";
    return { ...found, reason: "Cancelled", message };
  }
  return found;
}

/**
 * What the record keeps of an execution that has ended; undefined for one that has not, or was skipped. Deleting an
 * execution ends the cooldown after it, never a block.
 */
export function endOf({ metadata, status }: WorkflowExecution): ExecutionEnd | undefined {
  if (status?.phase !== "Completed" && status?.phase !== "Failed") return undefined;
  const fingerprint = metadata.annotations?.[annotationKeys.signalFingerprint];
  const incidentSince = Date.parse(metadata.annotations?.[annotationKeys.incidentSince] ?? "");
  const end = {
    executionUid: metadata.uid ?? "",
    executionName: metadata.name ?? "",
    executionNamespace: metadata.namespace ?? "",
    outcome: status.outcome,
    completedAt: status.completionTime,
    ...(fingerprint === undefined ? {} : { signalFingerprint: fingerprint }),
    ...(Number.isNaN(incidentSince) ? {} : { incidentSince: iso(incidentSince) }),
  };
  if (status.phase === "Completed") return metadata.deletionTimestamp ? { ...end, cooldownEnded: true } : end;
  const { reason, wasExecutionFailure } = status.failureDetails;
  return { ...end, reason, wasExecutionFailure };
}

/** A person's word, given by annotation, that trying again is safe: for everything that had ended by then. */
export function acknowledgementOf(
  { metadata }: KubeObject,
  { executionUid, completedAt }: ExecutionEnd,
  {
    nowMs = Date.parse(completedAt),
    knownSinceMs,
  }: { readonly nowMs?: number; readonly knownSinceMs?: number | undefined },
): Acknowledgement | undefined {
  const { annotations = {} } = metadata;
  const reason = annotations[annotationKeys.acknowledge]?.trim();
  if (!reason) return undefined;
  const named = annotations[annotationKeys.acknowledgedBy]?.trim();
  const verified = isVerifiedName(named, { knownSinceMs, signableSinceMs: Date.parse(completedAt) });
  return { executionUid, coversUntil: completedAt, by: named || "unknown", verified, reason, at: iso(nowMs) };
}

/** How often it failed now, and when it may be tried again: what the record will say once this is folded into it. */
function historyAfter({ record, settings }: Seen, execution: WorkflowExecution): Partial<Failed> {
  const end = endOf(execution);
  const { workflowId } = execution.spec.workflowRef;
  if (!end) return {};
  const history = historyOf(foldEnd(record?.status, { workflowId, end, backoff: settings.backoff }), workflowId);
  if (!history) return {};
  const { consecutiveFailures, nextAllowed } = history;
  return { consecutiveFailures, ...(nextAllowed === undefined ? {} : { nextAllowedExecution: nextAllowed }) };
}

function startedAt({ execution }: Seen): string | undefined {
  return execution.status?.phase === "Running" ? execution.status.startTime : undefined;
}

/** The clocks of engine and API server need not agree to the millisecond. */
function elapsed(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
