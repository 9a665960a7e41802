import { type Paused, taskPause } from "../policy/index.ts";
import { begunAt, type CodingTask, type CodingTaskStatus, cancelRequestOn } from "../resources/index.ts";
import { inOrder, isClosed, isWriting, type Snapshot } from "./snapshot.ts";
import { cancelled, isWaitingForPause, waitingAfterPause, waitingForPause, waitingInLine } from "./statuses.ts";

export type Decision =
  | { readonly do: "look-again"; readonly inMs: number }
  /** It was finished long enough ago to be forgotten. */
  | { readonly do: "remove" }
  /** Let its author know that it was seen. */
  | { readonly do: "acknowledge" }
  | { readonly do: "settle"; readonly status: CodingTaskStatus }
  | { readonly do: "wait"; readonly status: CodingTaskStatus }
  /** Automation is paused here: it is not begun. */
  | { readonly do: "pause"; readonly status: CodingTaskStatus; readonly paused: Paused }
  /** It is this task's turn: have it worked on, unless somebody does. */
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
    // Once it was begun people were told so, and have to be told that it ends: under its lock, like all that is told.
    return begunAt(task) ? { do: "work" } : { do: "settle", status: cancelled(task, by, nowMs) };
  }
  if (needsAcknowledgement(task)) return { do: "acknowledge" };

  const paused = taskPause(task, pauses, nowMs);
  if (paused) return { do: "pause", status: waitingForPause(task, paused), paused };

  const waitMs = nextAttemptMs(task) - nowMs;
  if (waitMs > 0 && isWaitingForPause(task)) return { do: "wait", status: waitingAfterPause(task) };
  if (waitMs > 0) return { do: "look-again", inMs: waitMs };

  const before = isRunningNow(task) ? [] : tasksBefore(snapshot);
  const [holder] = before;
  if (!holder) return { do: "work" };
  return { do: "wait", status: waitingInLine(task, before.length, holder) };
}

/** Who wants the task to stop, and why. */
export function cancelRequest(task: CodingTask): string | undefined {
  const request = cancelRequestOn(task);
  if (!request) return undefined;
  const { by, reason } = request;
  return by === "unknown" ? reason : `${by}: ${reason}`;
}

/** Those that have to end first, the next to end first. Whoever waits for another try, or for a pause to end, lets others pass. */
function tasksBefore({ task, line, pauses, nowMs }: Snapshot): readonly CodingTask[] {
  if (!isWriting(task)) return [];
  const isHeldUp = (other: CodingTask) => nextAttemptMs(other) > nowMs || taskPause(other, pauses, nowMs) !== undefined;
  const mayAct = line.filter((other) => !isClosed(other) && !isHeldUp(other));
  return mayAct.filter((other) => isRunningNow(other) || inOrder(other, task) < 0).sort(inOrder);
}

function isRunningNow({ status }: CodingTask): boolean {
  return status?.phase === "Running";
}

/** An issue stays where it asks for work until somebody moves it: its failure is remembered for longer, and told once. */
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
