import { type Decision, iso, nothing, requeueAfter } from "../../kube/index.ts";
import { findHistory, foldAck, foldEnd, freeHolder, isFolded } from "../../policy/index.ts";
import {
  type Condition,
  type ExecutionEnd,
  executionFinalizer,
  isRecorded,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
} from "../../resources/index.ts";
import { formatDuration } from "../../time/index.ts";
import { type Action, act } from "../action.ts";
import * as events from "../reports/ledger-events.ts";
import { endNotice } from "../reports/notice.ts";
import { findHolder, type ObservedRun, type Snapshot } from "../snapshot.ts";
import { readAcknowledgement, toExecutionEnd } from "./endings.ts";
import { executionKeptUntilMs, recheckMs } from "./retention.ts";

/**
 * Decides the last steps of an execution that has ended, was skipped, or is deleted before it started: fold its end into the
 * target record, which frees the target; delete its run, by uid; remove its finalizer.
 */
export function settle(snapshot: Snapshot): Decision<Action> {
  const end = toExecutionEnd(snapshot.execution, snapshot.settings);
  return (
    noteHolding(snapshot) ??
    (end ? fold(snapshot, end) : freeTarget(snapshot)) ??
    report(snapshot) ??
    acknowledge(snapshot, end) ??
    cleanUp(snapshot, end)
  );
}

/**
 * An execution that was skipped, refused or deleted may still hold the target, because another replica admitted it at the
 * same moment. Its status records that before the target is freed: afterwards no other object would show it, and the ledger
 * needs both events.
 */
function noteHolding(snapshot: Snapshot): Decision<Action> | undefined {
  const { execution, record } = snapshot;
  if (!findHolder(execution, record) || !execution.status) return undefined;
  if (wasAdmitted(execution) || owesFreeing(execution)) return undefined;
  const owed = condition(snapshot, "TargetFreed", "False", { reason: "Admitted", message: "it never ran" });
  const others = (execution.status.conditions ?? []).filter(({ type }) => type !== owed.type);
  return act(
    { do: "record", event: events.executionAdmittedEvent(snapshot) },
    { do: "set-status", status: { ...execution.status, conditions: [...others, owed] } },
  );
}

/** Whether the status shows that the freeing of the target has to be recorded in the ledger. */
function owesFreeing({ status }: WorkflowExecution): boolean {
  return status?.conditions?.some(({ type, status }) => type === "TargetFreed" && status === "False") ?? false;
}

/** Folds the end into the record once, whichever replica is first. That write frees the target. */
function fold(snapshot: Snapshot, end: ExecutionEnd): Decision<Action> | undefined {
  const { execution, plan, record, settings } = snapshot;
  const { workflowId } = execution.spec.workflowRef;
  const holdsTarget = findHolder(execution, record) !== undefined;
  // A recorded end was folded before; only a replica that was suspended since may have admitted the execution again.
  if (!plan.target || (isRecorded(execution) && !end.cooldownEnded && !holdsTarget)) return undefined;
  if (!record?.status) return act({ do: "create-record" });
  if (isFolded(record.status, { workflowId, end })) return undefined;
  const { backoff } = settings;
  const folded = foldEnd(record.status, { workflowId, end, backoff });
  // In one write with the end: between two writes other replicas would observe a failure that needs an acknowledgement.
  const ack = isCancelled(execution) ? readAcknowledgement(execution, end, {}) : undefined;
  return act({ do: "write-record", status: ack ? foldAck(folded, { workflowId, ack, backoff }) : folded });
}

/**
 * The events derive from durable state, and are appended before the condition that shows it. After a crash between the two
 * they are appended again, with the same ids.
 */
function report(snapshot: Snapshot): Decision<Action> | undefined {
  const event = events.executionEndedEvent(snapshot);
  const wasHeld = wasAdmitted(snapshot.execution) || owesFreeing(snapshot.execution);
  const isDue = event ? !isRecorded(snapshot.execution) || owesFreeing(snapshot.execution) : wasHeld;
  if (!isDue) return undefined;
  const notice = endNotice(snapshot);
  return act(
    ...(event && !wasHeld ? [{ do: "record", event } as const] : []),
    ...(wasHeld ? [{ do: "record-freed", ended: event } as const] : []),
    ...(notice ? [{ do: "notify", notice } as const] : []),
    { do: "set-status", status: withConditions(snapshot, wasHeld) },
    ...(wasHeld ? [{ do: "announce", what: { kind: "freed" } } as const] : []),
  );
}

/** Whether an operator cancelled the execution. */
function isCancelled({ status }: WorkflowExecution): boolean {
  return status?.phase === "Failed" && status.failureDetails.cancellation !== undefined;
}

/** An execution that ended held its target before, unless it was invalid or cancelled from the beginning. */
function wasAdmitted(execution: WorkflowExecution): boolean {
  const { status } = execution;
  if (status?.phase === "Failed" && isCancelled(execution)) return status.pipelineRunRef !== undefined;
  if (status?.phase === "Failed") return status.failureDetails.reason !== "ValidationError";
  return status?.phase === "Completed";
}

function freeTarget(snapshot: Snapshot): Decision<Action> | undefined {
  const { execution, record, run } = snapshot;
  // Only the run of a Running execution is started, so this one never was.
  if (run?.owner.kind === "us") return remove(snapshot, run);
  const holder = findHolder(execution, record);
  return holder && act({ do: "write-record", status: freeHolder(record?.status, holder.executionUid) });
}

/** Folds a person's acknowledgement that a retry is safe into the record. */
function acknowledge(snapshot: Snapshot, end: ExecutionEnd | undefined): Decision<Action> | undefined {
  const { execution, plan, record, settings } = snapshot;
  const ack =
    end &&
    readAcknowledgement(execution, end, { nowMs: snapshot.nowMs, knownSinceMs: snapshot.acknowledgersKnownSinceMs });
  if (!end || !ack || !plan.target) return undefined;
  // A record has to be rebuilt completely before anything is added: without its holder the target would look free.
  if (!record?.status) return act({ do: "create-record" });

  const { workflowId } = execution.spec.workflowRef;
  const known = findHistory(record.status, workflowId)?.ack;
  if (known && Date.parse(known.coversUntil) >= Date.parse(end.completedAt)) return undefined;
  return act(
    { do: "record", event: events.acknowledgedEvent(snapshot, ack) },
    { do: "write-record", status: foldAck(record.status, { workflowId, ack, backoff: settings.backoff }) },
    { do: "announce", what: { kind: "acknowledged", by: ack.by, reason: ack.reason } },
  );
}

function cleanUp(snapshot: Snapshot, end: ExecutionEnd | undefined): Decision<Action> {
  const { execution, run } = snapshot;
  const isOurs = run?.owner.kind === "us";
  if (execution.metadata.deletionTimestamp) return isOurs ? remove(snapshot, run) : removeFinalizer(snapshot);
  if (!isOurs || !end) return retain(snapshot, end);

  // The run was created late, after this execution had ended with another run or without one.
  const named =
    execution.status && "pipelineRunRef" in execution.status ? execution.status.pipelineRunRef?.uid : undefined;
  if (run.uid !== named) return remove(snapshot, run);

  const dueMs = keepUntilMs(snapshot, end);
  return snapshot.nowMs >= dueMs ? remove(snapshot, run) : requeueAfter(dueMs - snapshot.nowMs);
}

/** Deletes an execution without an owner after its retention. */
function retain(snapshot: Snapshot, end: ExecutionEnd | undefined): Decision<Action> {
  const untilMs = executionKeptUntilMs(snapshot, end);
  if (untilMs === undefined) return nothing;
  if (snapshot.nowMs >= untilMs) return act({ do: "delete-execution" });
  return requeueAfter(Math.min(untilMs - snapshot.nowMs, recheckMs));
}

/** Deletes the run. If a finalizer keeps it for long, that is reported, and checked again. */
function remove(snapshot: Snapshot, run: ObservedRun): Decision<Action> {
  if (!run.object.metadata.deletionTimestamp) return act({ do: "delete-run", run });
  const { problem, inMs } = slowRemoval(snapshot, run);
  if (!problem) return requeueAfter(inMs);
  return { actions: [{ do: "announce", what: { kind: "cleanup-failed", why: problem } }], requeueAfterMs: inMs };
}

/** Whether a run that was deleted is kept by its finalizers for long, and in how many milliseconds to look again. */
export function slowRemoval(
  { nowMs }: Pick<Snapshot, "nowMs">,
  { object }: ObservedRun,
): { readonly problem?: string; readonly inMs: number } {
  const { name = "", deletionTimestamp = "", finalizers = [] } = object.metadata;
  const waitedMs = nowMs - Date.parse(deletionTimestamp);
  if (waitedMs < slowRemovalMs) return { inMs: slowRemovalMs - waitedMs };
  const kept = finalizers.length > 0 ? `its finalizers keep it: ${finalizers.join(", ")}` : "see its finalizers";
  return {
    problem: `run ${name} is still there ${formatDuration(waitedMs)} after it was deleted; ${kept}`,
    inMs: slowRemovalMs,
  };
}

const slowRemovalMs = 60_000;

/** Returns until when a run is kept: after a success until its cooldown ends, after a failure for diagnosis. */
function keepUntilMs({ plan, settings }: Snapshot, { outcome, completedAt }: ExecutionEnd): number {
  const cooldownMs = plan.kind === "valid" ? plan.cooldownMs : settings.cooldownMs;
  return Date.parse(completedAt) + (outcome === "Success" ? cooldownMs : settings.runTtlMs);
}

function removeFinalizer(snapshot: Snapshot): Decision<Action> {
  if (!snapshot.execution.metadata.finalizers?.includes(executionFinalizer)) return nothing;
  return act({ do: "record", event: events.executionDeletedEvent(snapshot) }, { do: "unmark" });
}

/** Adds the conditions for tools that wait until the target is free, and for the executor after a crash. */
function withConditions(snapshot: Snapshot, wasHeld: boolean): WorkflowExecutionStatus {
  const status = snapshot.execution.status as WorkflowExecutionStatus;
  const recorded = { reason: status.phase, message: "the outcome is in the ledger" };
  const freed = { reason: "Folded", message: "the target's record shows no holder" };
  const conditions = [
    condition(snapshot, "Recorded", "True", recorded),
    ...(wasHeld ? [condition(snapshot, "TargetFreed", "True", freed)] : []),
  ];
  return { ...status, conditions };
}

function condition(
  { nowMs }: Snapshot,
  type: string,
  status: Condition["status"],
  text: Pick<Condition, "reason" | "message">,
): Condition {
  return { type, status, ...text, lastTransitionTime: iso(nowMs) };
}
