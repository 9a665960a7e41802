import { foldAck, foldEnd, freeHolder, historyOf, isFolded } from "../policy/index.ts";
import {
  type ExecutionEnd,
  executionFinalizer,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
} from "../resources/index.ts";
import { formatDuration } from "../time/index.ts";
import type { Action, Turn } from "./action.ts";
import { acknowledgementOf, endOf } from "./endings.ts";
import * as events from "./ledger-events.ts";
import { noticeOf } from "./notice.ts";
import { isRecorded } from "./recorded.ts";
import type { Seen, SeenRun } from "./seen.ts";

/**
 * What is left to do for an execution that has ended, was skipped, or is being deleted before it began: fold its end into
 * the target record, which frees the target; remove its run, by uid; let it go.
 */
export function settle(seen: Seen): Turn {
  const end = endOf(seen.execution);
  return (end ? fold(seen, end) : giveBack(seen)) ?? report(seen) ?? acknowledge(seen, end) ?? cleanUp(seen, end);
}

/** The end goes into the record once, by whichever replica comes first; that write frees the target. */
function fold(seen: Seen, end: ExecutionEnd): Turn | undefined {
  const { execution, plan, record, settings } = seen;
  const { workflowId } = execution.spec.workflowRef;
  const isForgotten = execution.metadata.deletionTimestamp !== undefined && end.outcome === "Success";
  const told = isForgotten ? { ...end, cooldownEnded: true as const } : end;
  // What was recorded was folded before.
  if (!plan.target || (isRecorded(execution) && !isForgotten)) return undefined;
  if (!record?.status) return act({ do: "create-record" });
  if (isFolded(record.status, { workflowId, end: told })) return undefined;
  return act({
    do: "write-record",
    status: foldEnd(record.status, { workflowId, end: told, backoff: settings.backoff }),
  });
}

/**
 * Told from what is durable, before the condition that says it was told: after a crash anywhere between it is told again,
 * under the same ids.
 */
function report(seen: Seen): Turn | undefined {
  const event = events.ended(seen);
  if (!event || isRecorded(seen.execution)) return undefined;
  const notice = noticeOf(seen);
  const wasHeld = wasAdmitted(seen.execution);
  return act(
    { do: "record", event },
    ...(wasHeld ? [{ do: "record-freed" } as const] : []),
    ...(notice ? [{ do: "notify", notice } as const] : []),
    { do: "set-status", status: withConditions(seen, wasHeld) },
    ...(wasHeld ? [{ do: "announce", what: { kind: "freed" } } as const] : []),
  );
}

/** Whatever ended held its target before, unless its spec was wrong from the beginning. */
function wasAdmitted({ status }: WorkflowExecution): boolean {
  if (status?.phase === "Failed") return status.failureDetails.reason !== "ValidationError";
  return status?.phase === "Completed";
}

/** A skipped or vanishing execution may hold the target all the same: another replica admitted it at the same moment. */
function giveBack(seen: Seen): Turn | undefined {
  const { execution, record, run } = seen;
  const { uid = "" } = execution.metadata;
  // Only a Running execution has its run started, so this one never was.
  if (run?.owner.kind === "us") return remove(seen, run);
  if (record?.status?.holder?.executionUid !== uid) return undefined;
  return act(
    { do: "write-record", status: freeHolder(record.status, uid) },
    { do: "record-freed" },
    { do: "announce", what: { kind: "freed" } },
  );
}

/** A person said that trying again is safe. */
function acknowledge(seen: Seen, end: ExecutionEnd | undefined): Turn | undefined {
  const { execution, record, settings } = seen;
  const ack = end && acknowledgementOf(execution, end, seen.nowMs);
  if (!end || !record || !ack) return undefined;

  const { workflowId } = execution.spec.workflowRef;
  const known = historyOf(record.status, workflowId)?.ack;
  if (known && Date.parse(known.coversUntil) >= Date.parse(end.completedAt)) return undefined;
  return act(
    { do: "record", event: events.acknowledged(seen, ack) },
    { do: "write-record", status: foldAck(record.status, { workflowId, ack, backoff: settings.backoff }) },
    { do: "announce", what: { kind: "acknowledged", by: ack.by, reason: ack.reason } },
  );
}

function cleanUp(seen: Seen, end: ExecutionEnd | undefined): Turn {
  const { execution, run } = seen;
  const isOurs = run?.owner.kind === "us";
  if (execution.metadata.deletionTimestamp) return isOurs ? remove(seen, run) : letGo(seen);
  if (!isOurs || !end) return { actions: [] };

  // A run that came late, after this execution had ended with another one, or with none.
  const named =
    execution.status && "pipelineRunRef" in execution.status ? execution.status.pipelineRunRef?.uid : undefined;
  if (run.uid !== named) return remove(seen, run);

  const dueMs = keepUntilMs(seen, end);
  return seen.nowMs >= dueMs ? remove(seen, run) : { actions: [], lookAgainInMs: dueMs - seen.nowMs };
}

/** A run that does not go, because something else wants to keep it, is reported and asked for again. */
function remove({ nowMs }: Seen, run: SeenRun): Turn {
  const { name = "", deletionTimestamp } = run.object.metadata;
  if (!deletionTimestamp) {
    return act({ do: "delete-run", run }, { do: "announce", what: { kind: "run-removed", runName: name } });
  }
  const waitedMs = nowMs - Date.parse(deletionTimestamp);
  if (waitedMs < slowRemovalMs) return { actions: [], lookAgainInMs: slowRemovalMs - waitedMs };
  const why = `run ${name} is still there ${formatDuration(waitedMs)} after it was deleted: see its finalizers`;
  return { actions: [{ do: "announce", what: { kind: "cleanup-failed", why } }], lookAgainInMs: slowRemovalMs };
}

const slowRemovalMs = 60_000;

/** Until the cooldown is over after a success; after a failure as long as people may want to look at it. */
function keepUntilMs({ plan, settings }: Seen, { outcome, completedAt }: ExecutionEnd): number {
  const cooldownMs = plan.kind === "valid" ? plan.cooldownMs : settings.cooldownMs;
  return Date.parse(completedAt) + (outcome === "Success" ? cooldownMs : settings.runTtlMs);
}

function letGo(seen: Seen): Turn {
  if (!seen.execution.metadata.finalizers?.includes(executionFinalizer)) return { actions: [] };
  return act({ do: "record", event: events.deleted(seen) }, { do: "unmark" });
}

/** For tools that wait for the moment when the target can be acted on again, and for ourselves after a crash. */
function withConditions({ execution, nowMs }: Seen, wasHeld: boolean): WorkflowExecutionStatus {
  const status = execution.status as WorkflowExecutionStatus;
  const lastTransitionTime = new Date(nowMs).toISOString();
  const is = (type: string, reason: string, message: string) => {
    return { type, status: "True" as const, lastTransitionTime, reason, message };
  };
  const conditions = [
    is("Recorded", status.phase, "how it ended is in the ledger"),
    ...(wasHeld ? [is("TargetFreed", "Folded", "its end is in the target's record, and the target is free")] : []),
  ];
  return { ...status, conditions };
}

function act(...actions: readonly Action[]): Turn {
  return { actions };
}
