import { isDeepStrictEqual } from "node:util";
import { type Decision, decision, nothing, requeueAfter } from "../kube/index.ts";
import { type Pause, type Paused, taskPause } from "../policy/index.ts";
import {
  begunAt,
  type ClosedTaskStatus,
  type CodingTask,
  type CodingTaskStatus,
  closedTaskStatus,
  isClosedTask,
  readCancelRequest,
} from "../resources/index.ts";
import { cancelledEnd } from "./end.ts";
import { byCreation, isWriting } from "./queue.ts";
import { endedStatus, isPaused, pausedStatus, queuedStatus, resumedStatus } from "./statuses.ts";
import type { Interruption, Work } from "./work/workers.ts";

/** A task and the state that its decision depends on. */
export interface Snapshot {
  readonly task: CodingTask;
  /** Every other task in the same queue. */
  readonly queue: readonly CodingTask[];
  /** All active pauses, whatever they cover. */
  readonly pauses: readonly Pause[];
  /** The work on the task in this process. */
  readonly work: Work;
  /** How long another replica is still assumed to work on the task. */
  readonly busyMs: number;
  /** The head of the merge request, if it is another commit than the one under review here, and waits for review. */
  readonly newerHead?: string | undefined;
  readonly nowMs: number;
  /** How long closed tasks are kept, so that a repeated report is not acted on again. */
  readonly keepFinishedMs: number;
}

export type Action =
  /** The retention of the closed task is over. */
  | { readonly do: "remove" }
  /** Shows the author that the comment was received. */
  | { readonly do: "acknowledge" }
  | { readonly do: "settle"; readonly status: CodingTaskStatus }
  | { readonly do: "wait"; readonly status: CodingTaskStatus }
  /** Automation is paused here, so the task does not start. */
  | { readonly do: "pause"; readonly status: CodingTaskStatus; readonly paused: Paused }
  /** The task is first in its queue: it starts when a worker is free. */
  | { readonly do: "work" }
  /** The task must not start: it no longer waits for a free worker. */
  | { readonly do: "withdraw" }
  | { readonly do: "interrupt"; readonly why: Interruption };

/**
 *   ∅ ─acknowledge─▶ Pending ─┬─▶ Waiting (paused, queued, or until its next try) ─┐
 *                             └──────────────────────────────────────────────────┴─▶ Running ─▶ Completed │ Superseded
 *                                                                                    │  ▲   └──▶ Failed
 *   any of them ─cancel─▶ Cancelled                                                  ▼  │
 *                                                                                  Waiting
 */
export function decide(snapshot: Snapshot): Decision<Action> {
  const { task, work } = snapshot;
  if (work.state === "interrupted") return nothing;
  if (work.state === "running") return decideRunning(snapshot, work.task);
  const closed = closedTaskStatus(task);
  const next = closed ? decideClosed(closed, snapshot) : decideOpen(snapshot);
  if (work.state === "none") return next;
  const mayStart = next.actions.some((action) => action.do === "work");
  return mayStart ? decideReady(task, work.task) : { ...next, actions: [{ do: "withdraw" }, ...next.actions] };
}

/** Stops a running attempt that is cancelled or superseded, but not the attempt that reports the cancellation. */
function decideRunning({ task, newerHead }: Snapshot, offered: CodingTask): Decision<Action> {
  if (cancelRequest(offered) !== undefined) return nothing;
  const by = cancelRequest(task);
  if (by !== undefined) return decision({ do: "interrupt", why: { kind: "cancelled", by } });
  if (newerHead === undefined) return nothing;
  return decision({ do: "interrupt", why: { kind: "superseded", by: newerHead } });
}

/** A task that waits for a free worker must not be displayed as paused, and is offered again when it is cancelled. */
function decideReady(task: CodingTask, offered: CodingTask): Decision<Action> {
  if (cancelRequest(task) !== cancelRequest(offered)) return decision({ do: "withdraw" });
  return isPaused(task) ? decision({ do: "wait", status: resumedStatus(task) }) : nothing;
}

function decideOpen(snapshot: Snapshot): Decision<Action> {
  const { task, pauses, nowMs, busyMs } = snapshot;
  if (busyMs > 0) return requeueAfter(busyMs);

  const by = cancelRequest(task);
  if (by !== undefined) {
    if (!begunAt(task)) return decision({ do: "settle", status: endedStatus(task, cancelledEnd(by), nowMs) });
    // People have read that the work began, so its end is reported to them, too: under the lock, like every report.
    const waitMs = isReporting(task) ? nextAttemptMs(task) - nowMs : 0;
    return waitMs > 0 ? requeueAfter(waitMs) : decision({ do: "work" });
  }
  if (needsAcknowledgement(task)) return decision({ do: "acknowledge" });

  const paused = taskPause(task, pauses, nowMs);
  if (paused) return changeStatus(task, { do: "pause", status: pausedStatus(task, paused), paused });

  const waitMs = nextAttemptMs(task) - nowMs;
  if (waitMs > 0 && isPaused(task)) return changeStatus(task, { do: "wait", status: resumedStatus(task) });
  if (waitMs > 0) return requeueAfter(waitMs);

  const before = isRunning(task) ? [] : tasksBefore(snapshot);
  const [holder] = before;
  if (!holder) return decision({ do: "work" });
  return changeStatus(task, { do: "wait", status: queuedStatus(task, before.length, holder) });
}

function changeStatus(task: CodingTask, action: Extract<Action, { readonly do: "wait" | "pause" }>): Decision<Action> {
  return isDeepStrictEqual(task.status, action.status) ? nothing : decision(action);
}

/** Returns who cancelled the task, and why. */
export function cancelRequest(task: CodingTask): string | undefined {
  const request = readCancelRequest(task);
  if (!request) return undefined;
  const { by, reason } = request;
  return by === "unknown" ? reason : `${by}: ${reason}`;
}

/**
 * Returns the tasks that end first, the next to end first. A task that waits for its next attempt or for a pause lets
 * others pass.
 */
function tasksBefore({ task, queue, pauses, nowMs }: Snapshot): readonly CodingTask[] {
  if (!isWriting(task)) return [];
  const isBlocked = (other: CodingTask) =>
    nextAttemptMs(other) > nowMs || taskPause(other, pauses, nowMs) !== undefined;
  const mayAct = queue.filter((other) => !isClosedTask(other) && !isBlocked(other));
  return mayAct.filter((other) => isRunning(other) || byCreation(other, task) < 0).sort(byCreation);
}

function isRunning({ status }: CodingTask): boolean {
  return status?.phase === "Running";
}

/**
 * An issue stays in its trigger status until a person moves it: its failure is kept for longer, so it is reported once.
 */
const issuesKept = 30;

function decideClosed(status: ClosedTaskStatus, { task, nowMs, keepFinishedMs }: Snapshot): Decision<Action> {
  const endedMs = Date.parse(status.completionTime);
  const leftMs = endedMs + keepFinishedMs * (task.spec.type === "Issue" ? issuesKept : 1) - nowMs;
  return leftMs > 0 ? requeueAfter(leftMs) : decision({ do: "remove" });
}

function needsAcknowledgement({ spec, status }: CodingTask): boolean {
  return spec.type === "Command" && !status?.steps?.some(({ name }) => name === "acknowledge");
}

/** Whether only the report of its end is left: it is retried when GitLab or Jira allows that. */
function isReporting({ status }: CodingTask): boolean {
  return status?.steps?.some(({ name }) => name === "failed" || name === "cancelled") ?? false;
}

function nextAttemptMs({ status }: CodingTask): number {
  const at = status?.phase === "Waiting" ? status.nextAttemptTime : undefined;
  return at === undefined ? 0 : Date.parse(at);
}
