import { iso } from "../../kube/index.ts";
import type { Fact, LedgerEvent, LedgerEventType } from "../../ledger/index.ts";
import { toStoredCheck } from "../../policy/index.ts";
import {
  type Acknowledgement,
  annotationKeys,
  type Cancellation,
  type RecordHolder,
  type SkipDetails,
  type Workload,
} from "../../resources/index.ts";
import type { CancelReason, ObservedRun, Snapshot } from "../snapshot.ts";
import type { PhaseStatus } from "../statuses.ts";

export function executionAdmittedEvent(snapshot: Snapshot): LedgerEvent {
  const holder = snapshot.record?.status?.holder;
  return event(snapshot, "execution.admitted", holder?.since ?? iso(snapshot.nowMs), {
    ...(holder ? admissionFacts(holder) : { engine: "" }),
    ...requestFacts(snapshot),
    record_version: snapshot.record?.metadata.resourceVersion ?? "",
  });
}

/** Returns the facts by which an execution was admitted. */
export function admissionFacts({ engine, approval }: RecordHolder): Readonly<Record<string, Fact>> {
  return { engine, ...(approval ? { approval: approval.name, approved_by: approval.decidedBy } : {}) };
}

/** Returns the caller who requested the run, as that caller claims, and the reason. An execution of an incident has none. */
function requestFacts({ execution }: Snapshot): Readonly<Record<string, Fact>> {
  const { [annotationKeys.requestedBy]: by, [annotationKeys.requestReason]: reason } =
    execution.metadata.annotations ?? {};
  return { ...(by ? { requested_by: by } : {}), ...(reason ? { request_reason: reason } : {}) };
}

export function runStartedEvent(snapshot: Snapshot, run: ObservedRun): LedgerEvent {
  return event(snapshot, "execution.started", iso(snapshot.nowMs), runFacts(run));
}

export function runCancelledEvent(snapshot: Snapshot, run: ObservedRun, because: CancelReason): LedgerEvent {
  return event(snapshot, "run.cancelled", iso(snapshot.nowMs), { ...runFacts(run), because });
}

/** Returns the event of an operator's request to cancel the execution. */
export function cancelRequestedEvent(snapshot: Snapshot, { by, verified, reason, blocks }: Cancellation): LedgerEvent {
  return event(snapshot, "execution.cancelled", iso(snapshot.nowMs), { by, verified, reason, blocks });
}

/** Returns the event of the execution's end, from its status. */
export function executionEndedEvent(snapshot: Snapshot): LedgerEvent | undefined {
  const { status } = snapshot.execution;
  switch (status?.phase) {
    case "Completed":
      return event(snapshot, "execution.completed", status.completionTime, {
        duration: status.duration,
        ...workloadFacts(status.workload),
      });
    case "Failed":
      return executionFailedEvent(snapshot, status);
    case "Skipped":
      return executionSkippedEvent(snapshot, status.skipDetails);
    case "Pending":
    case "Running":
    case undefined:
      return undefined;
  }
}

function executionFailedEvent(
  snapshot: Snapshot,
  { completionTime, failureDetails, workload }: PhaseStatus<"Failed">,
): LedgerEvent {
  const { reason, message, wasExecutionFailure, requiresManualReview, cancellation } = failureDetails;
  return event(snapshot, "execution.failed", completionTime, {
    failure_reason: reason,
    message,
    was_execution_failure: wasExecutionFailure,
    requires_manual_review: requiresManualReview,
    ...(cancellation ? { cancelled_by: cancellation.by, cancelled_by_verified: cancellation.verified } : {}),
    ...workloadFacts(workload),
  });
}

function executionSkippedEvent(snapshot: Snapshot, details: SkipDetails): LedgerEvent {
  const { decision } = snapshot;
  return event(snapshot, "execution.skipped", details.skippedAt, {
    skip_reason: details.reason,
    message: details.message,
    ...requestFacts(snapshot),
    ...("cause" in details ? { cause: details.cause } : {}),
    ...("conflictingWorkflow" in details ? { conflicting_workflow: details.conflictingWorkflow } : {}),
    ...("recentRemediation" in details && details.recentRemediation
      ? { recent_remediation: details.recentRemediation }
      : {}),
    ...(decision ? { checks: decision.checks.map(toStoredCheck) } : {}),
  });
}

/** Appended after the write that frees the target. */
export function targetFreedEvent(snapshot: Snapshot, atMs: number): LedgerEvent {
  return event(snapshot, "target.freed", iso(atMs), {});
}

export function executionDeletedEvent(snapshot: Snapshot): LedgerEvent {
  return event(snapshot, "execution.deleted", iso(snapshot.nowMs), { phase: snapshot.execution.status?.phase ?? "" });
}

export function acknowledgedEvent(snapshot: Snapshot, { by, reason, verified, at }: Acknowledgement): LedgerEvent {
  return event(snapshot, "failure.acknowledged", at, { by, reason, verified });
}

export function runCreatedEvent(snapshot: Snapshot, run: ObservedRun): LedgerEvent {
  return event(snapshot, "run.created", iso(snapshot.nowMs), runFacts(run));
}

function event(
  { execution, plan }: Snapshot,
  type: LedgerEventType,
  at: string,
  facts: Readonly<Record<string, Fact>>,
): LedgerEvent {
  const { metadata, spec } = execution;
  return {
    // Every event of an execution occurs once.
    id: `${metadata.uid}/${type}`,
    type,
    at,
    facts: {
      execution_id: metadata.uid ?? "",
      execution: `${metadata.namespace}/${metadata.name}`,
      workflow_id: spec.workflowRef.workflowId,
      target_resource: plan.target?.text ?? spec.targetResource,
      ...(spec.remediationRequestRef ? { remediation_id: spec.remediationRequestRef.name } : {}),
      ...facts,
    },
  };
}

function runFacts({ object, uid, workload }: ObservedRun): Readonly<Record<string, Fact>> {
  const { name = "" } = object.metadata;
  return { run: name, run_id: uid, run_kind: object.kind ?? "", ...workloadFacts(workload) };
}

function workloadFacts(workload: Workload | undefined): Readonly<Record<string, Fact>> {
  if (!workload) return {};
  const { engine, image, imageDigests, serviceAccountName } = workload;
  return {
    engine,
    image,
    ...(imageDigests ? { image_digests: imageDigests } : {}),
    service_account: serviceAccountName ?? "default",
  };
}
