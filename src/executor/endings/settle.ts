import { type Decision, iso, nothing, requeueAfter } from "../../kube/index.ts";
import { foldAck, foldEnd, freeHolder, historyOf, isFolded } from "../../policy/index.ts";
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
import { noticeOf } from "../reports/notice.ts";
import type { ObservedRun, Snapshot } from "../snapshot.ts";
import { acknowledgementOf, endOf } from "./endings.ts";
import { executionKeptUntilMs, recheckMs } from "./retention.ts";

/**
 * What is left to do for an execution that has ended, was skipped, or is being deleted before it began: fold its end into
 * the target record, which frees the target; remove its run, by uid; let it go.
 */
export function settle(snapshot: Snapshot): Decision<Action> {
  const end = endOf(snapshot.execution, snapshot.settings);
  return (
    noteHolding(snapshot) ??
    (end ? fold(snapshot, end) : giveBack(snapshot)) ??
    report(snapshot) ??
    acknowledge(snapshot, end) ??
    cleanUp(snapshot, end)
  );
}

/**
 * Whoever was skipped, refused or deleted may hold the target all the same: another replica admitted it at the same
 * moment. That is written down before the target is freed, because afterwards nothing else would say so, and the ledger
 * has to be told of both.
 */
function noteHolding(snapshot: Snapshot): Decision<Action> | undefined {
  const { execution, record } = snapshot;
  const holds = record?.status?.holder?.executionUid === execution.metadata.uid;
  if (!holds || !execution.status || wasAdmitted(execution) || owesFreeing(execution)) return undefined;
  const owed = condition(snapshot, {
    type: "TargetFreed",
    status: "False",
    reason: "Admitted",
    message: "it never ran",
  });
  const others = (execution.status.conditions ?? []).filter(({ type }) => type !== owed.type);
  return act(
    { do: "record", event: events.admitted(snapshot) },
    { do: "set-status", status: { ...execution.status, conditions: [...others, owed] } },
  );
}

/** It was noted that the ledger has to be told when the target is free. */
function owesFreeing({ status }: WorkflowExecution): boolean {
  return status?.conditions?.some(({ type, status }) => type === "TargetFreed" && status === "False") ?? false;
}

/** The end goes into the record once, by whichever replica comes first; that write frees the target. */
function fold(snapshot: Snapshot, end: ExecutionEnd): Decision<Action> | undefined {
  const { execution, plan, record, settings } = snapshot;
  const { workflowId } = execution.spec.workflowRef;
  const holds = record?.status?.holder?.executionUid === execution.metadata.uid;
  // What was recorded was folded before; only somebody who was paused since may have admitted it again.
  if (!plan.target || (isRecorded(execution) && !end.cooldownEnded && !holds)) return undefined;
  if (!record?.status) return act({ do: "create-record" });
  if (isFolded(record.status, { workflowId, end })) return undefined;
  const { backoff } = settings;
  const folded = foldEnd(record.status, { workflowId, end, backoff });
  // In one write with the end: between two writes others would see a failure that needs a person.
  const ack = isCancelled(execution) ? acknowledgementOf(execution, end, {}) : undefined;
  return act({ do: "write-record", status: ack ? foldAck(folded, { workflowId, ack, backoff }) : folded });
}

/**
 * Told from what is durable, before the condition that says it was told: after a crash anywhere between it is told again,
 * under the same ids.
 */
function report(snapshot: Snapshot): Decision<Action> | undefined {
  const event = events.ended(snapshot);
  const wasHeld = wasAdmitted(snapshot.execution) || owesFreeing(snapshot.execution);
  const isDue = event ? !isRecorded(snapshot.execution) || owesFreeing(snapshot.execution) : wasHeld;
  if (!isDue) return undefined;
  const notice = noticeOf(snapshot);
  return act(
    ...(event ? [{ do: "record", event } as const] : []),
    ...(wasHeld ? [{ do: "record-freed" } as const] : []),
    ...(notice ? [{ do: "notify", notice } as const] : []),
    { do: "set-status", status: withConditions(snapshot, wasHeld) },
    ...(wasHeld ? [{ do: "announce", what: { kind: "freed" } } as const] : []),
  );
}

/** An operator cancelled it. */
function isCancelled({ status }: WorkflowExecution): boolean {
  return status?.phase === "Failed" && status.failureDetails.cancellation !== undefined;
}

/** Whatever ended held its target before, unless its spec was wrong, or it was cancelled, from the beginning. */
function wasAdmitted(execution: WorkflowExecution): boolean {
  const { status } = execution;
  if (status?.phase === "Failed" && isCancelled(execution)) return status.pipelineRunRef !== undefined;
  if (status?.phase === "Failed") return status.failureDetails.reason !== "ValidationError";
  return status?.phase === "Completed";
}

function giveBack(snapshot: Snapshot): Decision<Action> | undefined {
  const { execution, record, run } = snapshot;
  const { uid = "" } = execution.metadata;
  // Only a Running execution has its run started, so this one never was.
  if (run?.owner.kind === "us") return remove(snapshot, run);
  if (record?.status?.holder?.executionUid !== uid) return undefined;
  return act({ do: "write-record", status: freeHolder(record.status, uid) });
}

/** A person said that trying again is safe. */
function acknowledge(snapshot: Snapshot, end: ExecutionEnd | undefined): Decision<Action> | undefined {
  const { execution, plan, record, settings } = snapshot;
  const ack =
    end &&
    acknowledgementOf(execution, end, { nowMs: snapshot.nowMs, knownSinceMs: snapshot.acknowledgersKnownSinceMs });
  if (!end || !ack || !plan.target) return undefined;
  // One that is being made again has to be whole before anything is added: without its holder it would pass for free.
  if (!record?.status) return act({ do: "create-record" });

  const { workflowId } = execution.spec.workflowRef;
  const known = historyOf(record.status, workflowId)?.ack;
  if (known && Date.parse(known.coversUntil) >= Date.parse(end.completedAt)) return undefined;
  return act(
    { do: "record", event: events.acknowledged(snapshot, ack) },
    { do: "write-record", status: foldAck(record.status, { workflowId, ack, backoff: settings.backoff }) },
    { do: "announce", what: { kind: "acknowledged", by: ack.by, reason: ack.reason } },
  );
}

function cleanUp(snapshot: Snapshot, end: ExecutionEnd | undefined): Decision<Action> {
  const { execution, run } = snapshot;
  const isOurs = run?.owner.kind === "us";
  if (execution.metadata.deletionTimestamp) return isOurs ? remove(snapshot, run) : letGo(snapshot);
  if (!isOurs || !end) return retain(snapshot, end);

  // A run that came late, after this execution had ended with another one, or with none.
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

/** A run that does not go, because something else wants to keep it, is reported and asked for again. */
function remove({ nowMs }: Snapshot, run: ObservedRun): Decision<Action> {
  const { name = "", deletionTimestamp } = run.object.metadata;
  if (!deletionTimestamp) {
    return act({ do: "delete-run", run }, { do: "announce", what: { kind: "run-removed", runName: name } });
  }
  const waitedMs = nowMs - Date.parse(deletionTimestamp);
  if (waitedMs < slowRemovalMs) return requeueAfter(slowRemovalMs - waitedMs);
  const why = `run ${name} is still there ${formatDuration(waitedMs)} after it was deleted: see its finalizers`;
  return { actions: [{ do: "announce", what: { kind: "cleanup-failed", why } }], requeueAfterMs: slowRemovalMs };
}

const slowRemovalMs = 60_000;

/** Until the cooldown is over after a success; after a failure as long as people may want to look at it. */
function keepUntilMs({ plan, settings }: Snapshot, { outcome, completedAt }: ExecutionEnd): number {
  const cooldownMs = plan.kind === "valid" ? plan.cooldownMs : settings.cooldownMs;
  return Date.parse(completedAt) + (outcome === "Success" ? cooldownMs : settings.runTtlMs);
}

function letGo(snapshot: Snapshot): Decision<Action> {
  if (!snapshot.execution.metadata.finalizers?.includes(executionFinalizer)) return nothing;
  return act({ do: "record", event: events.deleted(snapshot) }, { do: "unmark" });
}

/** For tools that wait for the moment when the target can be acted on again, and for ourselves after a crash. */
function withConditions(snapshot: Snapshot, wasHeld: boolean): WorkflowExecutionStatus {
  const status = snapshot.execution.status as WorkflowExecutionStatus;
  const is = (type: string, reason: string, message: string) => {
    return condition(snapshot, { type, status: "True", reason, message });
  };
  const conditions = [
    is("Recorded", status.phase, "what became of it is in the ledger"),
    ...(wasHeld ? [is("TargetFreed", "Folded", "the target's record says so: it is free")] : []),
  ];
  return { ...status, conditions };
}

function condition({ nowMs }: Snapshot, is: Omit<Condition, "lastTransitionTime">): Condition {
  return { ...is, lastTransitionTime: iso(nowMs) };
}
