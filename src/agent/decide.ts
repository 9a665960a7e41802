import { type Paused, taskPause } from "../policy/index.ts";
import { begunAt, type CodingTask, type CodingTaskStatus, readCancelRequest } from "../resources/index.ts";
import { byCreation, isClosed, isWriting, type Snapshot } from "./snapshot.ts";
import { cancelledStatus, isPaused, pausedStatus, queuedStatus, resumedStatus } from "./statuses.ts";

export type Decision =
  | { readonly do: "look-again"; readonly inMs: number }
  /** The retention of the closed task is over. */
  | { readonly do: "remove" }
  /** Shows the author that the comment was received. */
  | { readonly do: "acknowledge" }
  | { readonly do: "settle"; readonly status: CodingTaskStatus }
  | { readonly do: "wait"; readonly status: CodingTaskStatus }
  /** Automation is paused here, so the task does not start. */
  | { readonly do: "pause"; readonly status: CodingTaskStatus; readonly paused: Paused }
  /** The task is first in its queue: start an attempt, unless one is running. */
  | { readonly do: "work" };

/**
 *   ∅ ─acknowledge─▶ Pending ─┬─▶ Waiting (paused, in line, or for its next try) ─┐
 *                             └──────────────────────────────────────────────────┴─▶ Running ─▶ Completed │ Superseded
 *                                                                                    │  ▲   └──▶ Failed
 *   any of them ─cancel─▶ Cancelled                                                  ▼  │
 *                                                                                  Waiting
 */
export function decide(snapshot: Snapshot): Decision {
  const { task, pauses, nowMs } = snapshot;
  if (isClosed(task)) return decideClosed(snapshot);

  const by = cancelRequest(task);
  if (by !== undefined) {
    // People have read that the work began, so its end is reported to them, too: under the lock, like every report.
    return begunAt(task) ? { do: "work" } : { do: "settle", status: cancelledStatus(task, by, nowMs) };
  }
  if (needsAcknowledgement(task)) return { do: "acknowledge" };

  const paused = taskPause(task, pauses, nowMs);
  if (paused) return { do: "pause", status: pausedStatus(task, paused), paused };

  const waitMs = nextAttemptMs(task) - nowMs;
  if (waitMs > 0 && isPaused(task)) return { do: "wait", status: resumedStatus(task) };
  if (waitMs > 0) return { do: "look-again", inMs: waitMs };

  const before = isRunning(task) ? [] : tasksBefore(snapshot);
  const [holder] = before;
  if (!holder) return { do: "work" };
  return { do: "wait", status: queuedStatus(task, before.length, holder) };
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
  const mayAct = queue.filter((other) => !isClosed(other) && !isBlocked(other));
  return mayAct.filter((other) => isRunning(other) || byCreation(other, task) < 0).sort(byCreation);
}

function isRunning({ status }: CodingTask): boolean {
  return status?.phase === "Running";
}

/**
 * An issue stays in its trigger status until a person moves it: its failure is kept for longer, so it is reported once.
 */
const issuesKept = 30;

function decideClosed({ task: { spec, status }, nowMs, keepFinishedMs }: Snapshot): Decision {
  const endedMs = status && "completionTime" in status ? Date.parse(status.completionTime) : nowMs;
  const leftMs = endedMs + keepFinishedMs * (spec.type === "Issue" ? issuesKept : 1) - nowMs;
  return leftMs > 0 ? { do: "look-again", inMs: leftMs } : { do: "remove" };
}

function needsAcknowledgement({ spec, status }: CodingTask): boolean {
  return spec.type === "Command" && !status?.steps?.some(({ name }) => name === "acknowledge");
}

function nextAttemptMs({ status }: CodingTask): number {
  const at = status?.phase === "Waiting" ? status.nextAttemptTime : undefined;
  return at === undefined ? 0 : Date.parse(at);
}
