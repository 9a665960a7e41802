import type { Fact, LedgerEvent, LedgerEventType } from "../ledger/index.ts";
import { toldCheck } from "../policy/index.ts";
import type {
  Acknowledgement,
  Cancellation,
  RecordHolder,
  SkipDetails,
  WorkflowExecutionStatus,
  Workload,
} from "../resources/index.ts";
import type { CancelReason, Seen, SeenRun } from "./seen.ts";

type Status<Phase> = Extract<WorkflowExecutionStatus, { phase: Phase }>;

export function admitted(seen: Seen): LedgerEvent {
  const holder = seen.record?.status?.holder;
  return event(seen, "execution.admitted", holder?.since ?? iso(seen.nowMs), {
    ...(holder ? admissionFacts(holder) : { engine: "" }),
    record_version: seen.record?.metadata.resourceVersion ?? "",
  });
}

/** On what grounds an execution was admitted. */
export function admissionFacts({ engine, approval }: RecordHolder): Readonly<Record<string, Fact>> {
  return { engine, ...(approval ? { approval: approval.name, approved_by: approval.decidedBy } : {}) };
}

export function started(seen: Seen, run: SeenRun): LedgerEvent {
  return event(seen, "execution.started", iso(seen.nowMs), runFacts(run));
}

export function cancelled(seen: Seen, run: SeenRun, because: CancelReason): LedgerEvent {
  return event(seen, "run.cancelled", iso(seen.nowMs), { ...runFacts(run), because });
}

/** An operator asked to stop it. */
export function cancelRequested(seen: Seen, { by, verified, reason, blocks }: Cancellation): LedgerEvent {
  return event(seen, "execution.cancelled", iso(seen.nowMs), { by, verified, reason, blocks });
}

/** How it ended, as its status says. */
export function ended(seen: Seen): LedgerEvent | undefined {
  const { status } = seen.execution;
  switch (status?.phase) {
    case "Completed":
      return event(seen, "execution.completed", status.completionTime, {
        duration: status.duration,
        ...workloadFacts(status.workload),
      });
    case "Failed":
      return failed(seen, status);
    case "Skipped":
      return skipped(seen, status.skipDetails);
    case "Pending":
    case "Running":
    case undefined:
      return undefined;
  }
}

function failed(seen: Seen, { completionTime, failureDetails, workload }: Status<"Failed">): LedgerEvent {
  const { reason, message, wasExecutionFailure, requiresManualReview, cancellation } = failureDetails;
  return event(seen, "execution.failed", completionTime, {
    failure_reason: reason,
    message,
    was_execution_failure: wasExecutionFailure,
    requires_manual_review: requiresManualReview,
    ...(cancellation ? { cancelled_by: cancellation.by, cancelled_by_verified: cancellation.verified } : {}),
    ...workloadFacts(workload),
  });
}

function skipped(seen: Seen, details: SkipDetails): LedgerEvent {
  const { decision } = seen;
  return event(seen, "execution.skipped", details.skippedAt, {
    skip_reason: details.reason,
    message: details.message,
    ...("cause" in details ? { cause: details.cause } : {}),
    ...("conflictingWorkflow" in details ? { conflicting_workflow: details.conflictingWorkflow } : {}),
    ...("recentRemediation" in details && details.recentRemediation
      ? { recent_remediation: details.recentRemediation }
      : {}),
    ...(decision ? { checks: decision.checks.map(toldCheck) } : {}),
  });
}

/** Told after the write that frees the target: by then it is free for certain. */
export function freed(seen: Seen, atMs: number): LedgerEvent {
  return event(seen, "target.freed", iso(atMs), {});
}

export function deleted(seen: Seen): LedgerEvent {
  return event(seen, "execution.deleted", iso(seen.nowMs), { phase: seen.execution.status?.phase ?? "" });
}

export function acknowledged(seen: Seen, { by, reason, verified, at }: Acknowledgement): LedgerEvent {
  return event(seen, "failure.acknowledged", at, { by, reason, verified });
}

export function runCreated(seen: Seen, run: SeenRun): LedgerEvent {
  return event(seen, "run.created", iso(seen.nowMs), runFacts(run));
}

function event(
  { execution, plan }: Seen,
  type: LedgerEventType,
  at: string,
  facts: Readonly<Record<string, Fact>>,
): LedgerEvent {
  const { metadata, spec } = execution;
  return {
    // What happens to an execution happens to it once.
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

function runFacts({ object, uid, workload }: SeenRun): Readonly<Record<string, Fact>> {
  const { name = "" } = object.metadata;
  return { run: name, run_id: uid, run_kind: object.kind ?? "", ...workloadFacts(workload) };
}

/** What ran, by what and as whom. */
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

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
