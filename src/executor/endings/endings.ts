import type { RunFailure } from "../../engines/index.ts";
import { type Decision, iso, type KubeObject } from "../../kube/index.ts";
import { foldEnd, historyOf, isVerifiedName, type NameGuarantee } from "../../policy/index.ts";
import {
  type Acknowledgement,
  annotationKeys,
  type Cancellation,
  cancelRequestOn,
  classifyFailure,
  describeCancellation,
  type ExecutionEnd,
  type FailureReason,
  redactValues,
  remediationRequests,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
} from "../../resources/index.ts";
import { formatDuration } from "../../time/index.ts";
import type { Action } from "../action.ts";
import { cancelRequested } from "../reports/ledger-events.ts";
import type { ObservedRun, Snapshot } from "../snapshot.ts";
import { approvalIn, refTo, startTimeOf, summaryOf } from "../statuses.ts";
import { summarise } from "./failure-summary.ts";

type Completed = Extract<WorkflowExecutionStatus, { phase: "Completed" }>;
type Failed = Extract<WorkflowExecutionStatus, { phase: "Failed" }>;

/** The run succeeded. */
export function completed(
  snapshot: Snapshot,
  run: ObservedRun,
  state: { readonly completedAt: string },
): Decision<Action> {
  const startTime = startedAt(snapshot) ?? startTimeOf(run) ?? iso(snapshot.nowMs);
  const completionTime = iso(state.completedAt);
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
    workload: run.workload,
    ...approvalBefore(snapshot),
  };
  return {
    actions: [
      { do: "set-status", status },
      { do: "announce", what: { kind: "completed", durationMs } },
    ],
  };
}

/** A failure, by itself or because an operator wanted it. */
interface Failure extends RunFailure {
  readonly cancellation?: Cancellation | undefined;
}

/** The run failed, or is gone. */
export function failed(snapshot: Snapshot, told: Failure): Decision<Action> {
  const failure = { ...told, message: withoutSecrets(told.message, snapshot) };
  const { status, metadata } = snapshot.execution;
  const before = status?.phase === "Running" ? status : undefined;
  const run = snapshot.run?.owner.kind === "us" ? snapshot.run : undefined;
  const workload = run?.workload ?? before?.workload;
  const startTime = before?.startTime ?? (run && startTimeOf(run));
  const completionTime = run?.state.kind === "failed" ? iso(run.state.completedAt) : iso(snapshot.nowMs);
  const durationMs = startTime === undefined ? undefined : elapsed(startTime, completionTime);
  const { cancellation } = told;
  // Whoever asks for a block gets one, even if nothing was started.
  const anythingStarted = failure.anythingStarted || cancellation?.blocks === true;
  const { reason, wasExecutionFailure } = classifyFailure(failure.reason, { anythingStarted });
  const failureDetails = {
    reason,
    message: failure.message,
    ...(failure.failedTaskName === undefined ? {} : { failedTaskName: failure.failedTaskName }),
    ...(failure.failedStepName === undefined ? {} : { failedStepName: failure.failedStepName }),
    ...(failure.exitCode === undefined ? {} : { exitCode: failure.exitCode }),
    failedAt: completionTime,
    ...(durationMs === undefined ? {} : { executionTimeBeforeFailure: formatDuration(durationMs) }),
    naturalLanguageSummary: summarise({
      execution: snapshot.execution,
      failure,
      reason,
      wasExecutionFailure,
      durationMs,
      cancellation,
    }),
    wasExecutionFailure,
    requiresManualReview: cancellation ? cancellation.blocks : wasExecutionFailure,
    ...(cancellation ? { cancellation } : {}),
  };
  const bare: Failed = {
    phase: "Failed",
    ...(startTime === undefined ? {} : { startTime }),
    completionTime,
    ...(durationMs === undefined ? {} : { duration: formatDuration(durationMs) }),
    outcome: "Failed",
    ...(run ? { pipelineRunRef: refTo(run), pipelineRunStatus: summaryOf(run) } : {}),
    ...(!run && before ? { pipelineRunRef: before.pipelineRunRef } : {}),
    ...(workload ? { workload } : {}),
    failureDetails,
    ...approvalBefore(snapshot),
  };
  const next = { ...bare, ...historyAfter(snapshot, { ...snapshot.execution, status: bare, metadata }) };
  return {
    actions: [
      { do: "set-status", status: next },
      { do: "announce", what: { kind: "failed", details: failureDetails, durationMs } },
    ],
  };
}

/** Nothing was started: trying again is safe, after a while. */
export function failedBefore(
  snapshot: Snapshot,
  refusal: { readonly reason: FailureReason; readonly message: string },
): Decision<Action> {
  return failed(snapshot, { ...refusal, anythingStarted: false });
}

/** Ends an execution that an operator cancelled before its run was started. */
export function cancelledBefore(snapshot: Snapshot, cancellation: Cancellation): Decision<Action> {
  const message = describeCancellation(cancellation);
  const { actions } = failed(snapshot, { reason: "Cancelled", message, anythingStarted: false, cancellation });
  return { actions: [{ do: "record", event: cancelRequested(snapshot, cancellation) }, ...actions] };
}

/** Why the run failed. If we stopped it ourselves, why we did. */
export function failureOfRun(snapshot: Snapshot, { failure, cancelledBecause }: ObservedRun): Failure {
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
  if (cancelledBecause === "Requested") {
    const cancellation = cancellationOf(snapshot) ?? unknownCancellation;
    return { ...found, reason: "Cancelled", message: describeCancellation(cancellation), cancellation };
  }
  return found;
}

/** The request was removed after the run had been told to stop. */
const unknownCancellation: Cancellation = { by: "unknown", verified: false, reason: "not recorded", blocks: false };

/** The words of an engine may repeat a parameter, and are written down for ever: in the ledger, and in notices. */
function withoutSecrets(message: string, { execution, plan }: Snapshot): string {
  const entry = plan.kind === "valid" ? plan.entry : undefined;
  const parameters = plan.kind === "valid" ? plan.parameters : (execution.spec.parameters ?? {});
  return redactValues(message, parameters, entry);
}

/** The approval that it used, as its status says, or the record while it was not Running yet. */
function approvalBefore(snapshot: Snapshot) {
  const { status } = snapshot.execution;
  const known = status?.phase === "Running" ? status.approvalRef : undefined;
  return known ? { approvalRef: known } : approvalIn(snapshot);
}

/**
 * Executions that failed because they are invalid, and that no incident asked for, say nothing about the target. Nor do
 * those that an operator cancelled before they had acted.
 */
function isNoHistory({ metadata, spec, status }: WorkflowExecution, { incidentsNamespace }: EndSettings): boolean {
  if (status?.phase !== "Failed") return false;
  const { reason, cancellation, wasExecutionFailure } = status.failureDetails;
  if (cancellation && !wasExecutionFailure) return true;
  if (reason !== "ValidationError") return false;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const isForIncident = owner?.kind === remediationRequests.kind && owner.uid === spec.remediationRequestRef?.uid;
  return !isForIncident || metadata.namespace !== incidentsNamespace;
}

type EndSettings = Pick<Snapshot["settings"], "incidentsNamespace">;

/**
 * What the record keeps of an execution that has ended; undefined for one that has not, was skipped, or was invalid and
 * made by hand. Deleting an execution ends the cooldown after it, never a block.
 */
export function endOf(execution: WorkflowExecution, settings: EndSettings): ExecutionEnd | undefined {
  const { metadata, status } = execution;
  if (status?.phase !== "Completed" && status?.phase !== "Failed") return undefined;
  if (isNoHistory(execution, settings)) return undefined;
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
    ...(status.approvalRef ? { approvalUid: status.approvalRef.uid } : {}),
  };
  if (status.phase === "Completed") return metadata.deletionTimestamp ? { ...end, cooldownEnded: true } : end;
  const { reason, wasExecutionFailure } = status.failureDetails;
  return { ...end, reason, wasExecutionFailure };
}

/** A person's word, given by annotation, that trying again is safe: for everything that had ended by then. */
export function acknowledgementOf(
  { metadata, status }: KubeObject & { readonly status?: unknown },
  { executionUid, completedAt }: ExecutionEnd,
  {
    nowMs = Date.parse(completedAt),
    knownSinceMs,
  }: { readonly nowMs?: number; readonly knownSinceMs?: NameGuarantee | undefined },
): Acknowledgement | undefined {
  const { annotations = {} } = metadata;
  const reason = annotations[annotationKeys.acknowledge]?.trim();
  if (!reason) return cancellersWord(status, { executionUid, completedAt });
  const named = annotations[annotationKeys.acknowledgedBy]?.trim();
  const verified = isVerifiedName(named, { knownSinceMs, signableSinceMs: Date.parse(completedAt) });
  return { executionUid, coversUntil: completedAt, by: named || "unknown", verified, reason, at: iso(nowMs) };
}

/** Whoever cancels an execution without asking for a block says that trying again is safe. */
function cancellersWord(
  status: unknown,
  { executionUid, completedAt }: Pick<ExecutionEnd, "executionUid" | "completedAt">,
): Acknowledgement | undefined {
  const { cancellation } = (status as Partial<Failed> | undefined)?.failureDetails ?? {};
  if (!cancellation || cancellation.blocks) return undefined;
  const { by, verified } = cancellation;
  const reason = describeCancellation(cancellation);
  return { executionUid, coversUntil: completedAt, by, verified, reason, at: completedAt };
}

/** How often it failed now, and when it may be tried again: what the record will say once this is folded into it. */
function historyAfter({ record, settings }: Snapshot, execution: WorkflowExecution): Partial<Failed> {
  const end = endOf(execution, settings);
  const { workflowId } = execution.spec.workflowRef;
  if (!end) return {};
  const history = historyOf(foldEnd(record?.status, { workflowId, end, backoff: settings.backoff }), workflowId);
  if (!history) return {};
  const { consecutiveFailures, nextAllowed } = history;
  return { consecutiveFailures, ...(nextAllowed === undefined ? {} : { nextAllowedExecution: nextAllowed }) };
}

function startedAt({ execution }: Snapshot): string | undefined {
  return execution.status?.phase === "Running" ? execution.status.startTime : undefined;
}

/** The clocks of engine and API server need not agree to the millisecond. */
function elapsed(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

/** The request of an operator to stop the execution, as it goes on record. */
export function cancellationOf({ execution, acknowledgersKnownSinceMs }: Snapshot): Cancellation | undefined {
  const request = cancelRequestOn(execution);
  if (!request) return undefined;
  // The annotation may be there from the beginning.
  const signableSinceMs = Date.parse(execution.metadata.creationTimestamp ?? "");
  const verified = isVerifiedName(request.by, { knownSinceMs: acknowledgersKnownSinceMs, signableSinceMs });
  return { ...request, verified };
}
