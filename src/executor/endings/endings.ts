import type { RunFailure } from "../../engines/index.ts";
import { type Decision, iso, type KubeObject } from "../../kube/index.ts";
import { findHistory, foldEnd, isVerifiedName, type NameGuarantee } from "../../policy/index.ts";
import {
  type Acknowledgement,
  annotationKeys,
  type Cancellation,
  classifyFailure,
  describeCancellation,
  type ExecutionEnd,
  type FailureReason,
  readCancelRequest,
  redactValues,
  remediationRequests,
  type WorkflowExecution,
} from "../../resources/index.ts";
import { formatDuration } from "../../time/index.ts";
import type { Action } from "../action.ts";
import { cancelRequestedEvent } from "../reports/ledger-events.ts";
import type { ObservedRun, Snapshot } from "../snapshot.ts";
import { approvalIn, type PhaseStatus, refTo, runStartTime, toSummary } from "../statuses.ts";
import { summarise } from "./failure-summary.ts";

type Completed = PhaseStatus<"Completed">;
type Failed = PhaseStatus<"Failed">;

/** Completes the execution after its run succeeded. */
export function completeExecution(
  snapshot: Snapshot,
  run: ObservedRun,
  state: { readonly completedAt: string },
): Decision<Action> {
  const startTime = startedAt(snapshot) ?? runStartTime(run) ?? iso(snapshot.nowMs);
  const completionTime = endTime(snapshot, state.completedAt, startTime);
  const durationMs = elapsedMs(startTime, completionTime);
  const status: Completed = {
    phase: "Completed",
    startTime,
    completionTime,
    duration: formatDuration(durationMs),
    outcome: "Success",
    pipelineRunRef: refTo(run),
    pipelineRunStatus: toSummary(run),
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

/** The failure of a run, or its cancellation by an operator. */
interface Failure extends RunFailure {
  readonly cancellation?: Cancellation | undefined;
}

/** Fails the execution after its run failed or was deleted. */
export function failExecution(snapshot: Snapshot, given: Failure): Decision<Action> {
  const failure = { ...given, message: withoutSecrets(given.message, snapshot) };
  const { cancellation, anythingStarted: hasStarted, unfinished: _, ...found } = failure;
  const { status } = snapshot.execution;
  const before = status?.phase === "Running" ? status : undefined;
  const run = snapshot.run?.owner.kind === "us" ? snapshot.run : undefined;
  const workload = run?.workload ?? before?.workload;
  const startTime = before?.startTime ?? (run && runStartTime(run));
  const completionTime = endTime(snapshot, run?.state.kind === "failed" ? run.state.completedAt : undefined, startTime);
  const durationMs = startTime === undefined ? undefined : elapsedMs(startTime, completionTime);
  // An operator who requests a block gets one, even if nothing was started.
  const anythingStarted = hasStarted || cancellation?.blocks === true;
  const { reason, wasExecutionFailure } = classifyFailure(failure.reason, { anythingStarted });
  const failureDetails = {
    ...found,
    reason,
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
    ...(run ? { pipelineRunRef: refTo(run), pipelineRunStatus: toSummary(run) } : {}),
    ...(!run && before ? { pipelineRunRef: before.pipelineRunRef } : {}),
    ...(workload ? { workload } : {}),
    failureDetails,
    ...approvalBefore(snapshot),
  };
  const next = { ...bare, ...historyAfter(snapshot, { ...snapshot.execution, status: bare }) };
  return {
    actions: [
      { do: "set-status", status: next },
      { do: "announce", what: { kind: "failed", details: failureDetails, durationMs } },
    ],
  };
}

/** Fails the execution before anything was started: a retry is safe after the backoff. */
export function failedBefore(
  snapshot: Snapshot,
  refusal: { readonly reason: FailureReason; readonly message: string },
): Decision<Action> {
  return failExecution(snapshot, { ...refusal, anythingStarted: false });
}

/** Ends an execution that an operator cancelled before its run was started. */
export function cancelledBefore(snapshot: Snapshot, cancellation: Cancellation): Decision<Action> {
  const message = describeCancellation(cancellation);
  const { actions } = failExecution(snapshot, { reason: "Cancelled", message, anythingStarted: false, cancellation });
  return { actions: [{ do: "record", event: cancelRequestedEvent(snapshot, cancellation) }, ...actions] };
}

/** Returns why the run failed or, if the executor cancelled it, why it was cancelled. */
export function explainFailure(snapshot: Snapshot, { failure, cancelledBecause }: ObservedRun): Failure {
  const found = failure ?? { reason: "Unknown", message: "the engine gave no reason", anythingStarted: true };
  if (cancelledBecause === "Timeout") {
    return { ...found, reason: "Timeout", message: "the run exceeded its timeout and was cancelled" };
  }
  if (cancelledBecause === "ExecutionDeleted") {
    return { ...found, reason: "Cancelled", message: "the execution was deleted and its run cancelled" };
  }
  if (cancelledBecause === "TargetLost") {
    const message = "the target's record, which admitted the execution, was deleted before the run had started";
    return { ...found, reason: "Cancelled", message };
  }
  if (cancelledBecause === "Requested") {
    const cancellation = readCancellation(snapshot) ?? unknownCancellation;
    return { ...found, reason: "Cancelled", message: describeCancellation(cancellation), cancellation };
  }
  return found;
}

/** Used if the request was removed after the run had been cancelled. */
const unknownCancellation: Cancellation = { by: "unknown", verified: false, reason: "not recorded", blocks: false };

/** Redacts a message of an engine: it may contain a parameter, and is stored in the ledger and in notices. */
function withoutSecrets(message: string, { execution, plan }: Snapshot): string {
  const entry = plan.kind === "valid" ? plan.entry : undefined;
  const parameters = plan.kind === "valid" ? plan.parameters : (execution.spec.parameters ?? {});
  return redactValues(message, parameters, entry);
}

/** Returns the approval that the execution used: from its status or, before it was Running, from the record. */
function approvalBefore(snapshot: Snapshot) {
  const { status } = snapshot.execution;
  const known = status?.phase === "Running" ? status.approvalRef : undefined;
  return known ? { approvalRef: known } : approvalIn(snapshot);
}

/**
 * Whether an execution is left out of the target's history: an invalid one that does not belong to an incident, and one that an
 * operator cancelled before it acted, unless its run had used an approval.
 */
function isNoHistory({ metadata, spec, status }: WorkflowExecution, { incidentsNamespace }: EndSettings): boolean {
  if (status?.phase !== "Failed") return false;
  const { reason, cancellation, wasExecutionFailure } = status.failureDetails;
  if (cancellation && !wasExecutionFailure) return !(status.approvalRef && status.pipelineRunRef);
  if (reason !== "ValidationError") return false;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  const isForIncident = owner?.kind === remediationRequests.kind && owner.uid === spec.remediationRequestRef?.uid;
  return !isForIncident || metadata.namespace !== incidentsNamespace;
}

type EndSettings = Pick<Snapshot["settings"], "incidentsNamespace">;

/**
 * Returns the end of an execution as the record keeps it; undefined if the execution has not ended, was skipped, or was
 * invalid and created by hand. Deleting an execution ends its cooldown, but not its block.
 */
export function toExecutionEnd(execution: WorkflowExecution, settings: EndSettings): ExecutionEnd | undefined {
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

/** Whether the object has the annotation of an acknowledgement, verified or not. */
export function isAcknowledged({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[annotationKeys.acknowledge] !== undefined;
}

interface AcknowledgementContext {
  readonly nowMs?: number;
  readonly knownSinceMs?: NameGuarantee | undefined;
}

/** Reads the annotation by which an operator acknowledges that a retry is safe, after this end and all earlier ones. */
export function readAcknowledgement(
  { metadata, status }: KubeObject & { readonly status?: unknown },
  { executionUid, completedAt }: ExecutionEnd,
  { nowMs = Date.parse(completedAt), knownSinceMs }: AcknowledgementContext,
): Acknowledgement | undefined {
  const { annotations = {} } = metadata;
  const reason = annotations[annotationKeys.acknowledge]?.trim();
  if (!reason) return cancellationAck(status, { executionUid, completedAt });
  const named = annotations[annotationKeys.acknowledgedBy]?.trim();
  const verified = isVerifiedName(named, { knownSinceMs, signableSinceMs: Date.parse(completedAt) });
  return { executionUid, coversUntil: completedAt, by: named || "unknown", verified, reason, at: iso(nowMs) };
}

/** An operator who cancels an execution without requesting a block acknowledges that a retry is safe. */
function cancellationAck(
  status: unknown,
  { executionUid, completedAt }: Pick<ExecutionEnd, "executionUid" | "completedAt">,
): Acknowledgement | undefined {
  const { cancellation } = (status as Partial<Failed> | undefined)?.failureDetails ?? {};
  if (!cancellation || cancellation.blocks) return undefined;
  const { by, verified } = cancellation;
  const reason = describeCancellation(cancellation);
  return { executionUid, coversUntil: completedAt, by, verified, reason, at: completedAt };
}

/** Returns the number of failures and the time of the next attempt that the record will have after the fold. */
function historyAfter({ record, settings }: Snapshot, execution: WorkflowExecution): Partial<Failed> {
  const end = toExecutionEnd(execution, settings);
  const { workflowId } = execution.spec.workflowRef;
  if (!end) return {};
  const history = findHistory(foldEnd(record?.status, { workflowId, end, backoff: settings.backoff }), workflowId);
  if (!history) return {};
  const { consecutiveFailures, nextAllowed } = history;
  return { consecutiveFailures, ...(nextAllowed === undefined ? {} : { nextAllowedExecution: nextAllowed }) };
}

function startedAt({ execution }: Snapshot): string | undefined {
  return execution.status?.phase === "Running" ? execution.status.startTime : undefined;
}

/**
 * Returns the time of an end: as the engine reports it, but not after now and not before the start. The clock of an engine can be
 * wrong. An end that seemed earlier than those before it would be covered by their acknowledgements, and one in the future would
 * cover later ones.
 */
function endTime({ nowMs }: Snapshot, reported: string | undefined, startTime: string | undefined): string {
  const reportedMs = reported === undefined ? nowMs : Date.parse(reported);
  const startMs = startTime === undefined ? reportedMs : Date.parse(startTime);
  return iso(Math.max(startMs, Math.min(reportedMs, nowMs)));
}

function elapsedMs(from: string, to: string): number {
  return Date.parse(to) - Date.parse(from);
}

/** Returns an operator's request to cancel the execution, in the form of its status. */
export function readCancellation({ execution, acknowledgersKnownSinceMs }: Snapshot): Cancellation | undefined {
  const request = readCancelRequest(execution);
  if (!request) return undefined;
  // The annotation may have been set when the execution was created.
  const signableSinceMs = Date.parse(execution.metadata.creationTimestamp ?? "");
  const verified = isVerifiedName(request.by, { knownSinceMs: acknowledgersKnownSinceMs, signableSinceMs });
  return { ...request, verified };
}
