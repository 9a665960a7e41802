import { iso } from "../kube/index.ts";
import type { Paused } from "../policy/index.ts";
import { begunAt, begunStep, type CodingTask, type CodingTaskStatus, type CodingTaskStep } from "../resources/index.ts";
import type { End } from "./end.ts";

/** The fields that stay the same from one phase to the next. */
function keptFields({ status }: CodingTask) {
  const { attempts, steps } = status ?? {};
  return { ...(attempts === undefined ? {} : { attempts }), ...(steps === undefined ? {} : { steps }) };
}

export function pendingStatus(task: CodingTask, steps: readonly CodingTaskStep[]): CodingTaskStatus {
  return { phase: "Pending", message: "accepted", ...keptFields(task), steps };
}

/** Waits for earlier tasks of its queue. */
export function queuedStatus(task: CodingTask, position: number, first: CodingTask): CodingTaskStatus {
  const { name = "" } = first.metadata;
  const since = first.status?.phase === "Running" ? first.status.startTime : undefined;
  return {
    ...waitingStatus(task, `position ${position} in the queue, behind ${describeTask(first)}`),
    position,
    holder: { identity: describeTask(first), task: name, ...(since === undefined ? {} : { since }) },
  };
}

/** Waits until the last pause that covers it ends. */
export function pausedStatus(task: CodingTask, { pauses, evidence, clears }: Paused): CodingTaskStatus {
  const [{ name, spec }] = pauses;
  const { requestedBy, reason, until } = spec;
  const pause = { name, requestedBy, reason, ...(until === undefined ? {} : { until }) };
  return { ...waitingStatus(task, `${evidence}; clears ${clears}`), pause };
}

/** The pause has ended, and no attempt has started yet. */
export function resumedStatus(task: CodingTask): CodingTaskStatus {
  return waitingStatus(task, "no longer paused; queued");
}

export function isPaused({ status }: CodingTask): boolean {
  return status?.phase === "Waiting" && status.pause !== undefined;
}

/** The time of the next attempt after a failure is kept, whatever the task waits for. */
function waitingStatus(task: CodingTask, message: string) {
  const { status } = task;
  const nextAttemptTime = status?.phase === "Waiting" ? status.nextAttemptTime : undefined;
  const kept = { ...(nextAttemptTime === undefined ? {} : { nextAttemptTime }), ...keptFields(task) };
  return { phase: "Waiting", message, ...kept } as const;
}

export interface Retry {
  readonly why: string;
  readonly atMs: number;
  readonly attempts: number;
}

export function retryStatus(task: CodingTask, { why, atMs, attempts }: Retry): CodingTaskStatus {
  const nextAttemptTime = iso(atMs);
  const message = `next attempt at ${nextAttemptTime}: ${why}`;
  return { phase: "Waiting", nextAttemptTime, message, ...keptFields(task), attempts };
}

/** The current attempt ended for a reason outside of the task, and does not count. `attempts`: those before it. */
export function uncountedStatus(task: CodingTask, message: string, attempts: number): CodingTaskStatus {
  return { phase: "Waiting", message, ...keptFields(task), attempts };
}

/** Starts or resumes the task. The start time is kept as a step, which stays in every later phase. */
export function runningStatus(task: CodingTask, nowMs: number): CodingTaskStatus {
  const { attempts = 0, steps = [] } = task.status ?? {};
  const first = begunAt(task);
  const startTime = first ?? iso(nowMs);
  return {
    phase: "Running",
    startTime,
    message: "running",
    attempts: attempts + 1,
    steps: first === undefined ? [...steps, { name: begunStep, completedAt: startTime }] : steps,
  };
}

/** Returns the status of a closed task. Results that only the work needs are dropped, because they can be large. */
export function endedStatus(task: CodingTask, end: End, nowMs: number): CodingTaskStatus {
  const startTime = begunAt(task);
  // Another replica may have started the task, and estimates of the server's clock differ.
  const completionTime = iso(Math.max(nowMs, Date.parse(startTime ?? "") || 0));
  const { attempts = 0, steps = [] } = task.status ?? {};
  const rest = { message: end.message, attempts, steps: steps.map(withoutFindings) };
  switch (end.kind) {
    case "completed":
      return {
        phase: "Completed",
        startTime: startTime ?? completionTime,
        completionTime,
        ...(end.result ? { result: end.result } : {}),
        ...rest,
      };
    case "superseded":
      return { phase: "Superseded", completionTime, supersededBy: end.by, ...rest };
    case "cancelled":
      return { phase: "Cancelled", completionTime, ...(end.reason ? { reason: end.reason } : {}), ...rest };
    case "failed": {
      const failure = { reason: end.reason, message: end.message };
      return { phase: "Failed", ...(startTime === undefined ? {} : { startTime }), completionTime, failure, ...rest };
    }
  }
}

function withoutFindings({ name, completedAt, result }: CodingTaskStep): CodingTaskStep {
  const { findings: _, ...rest } = result ?? {};
  return { name, completedAt, ...(result === undefined ? {} : { result: rest }) };
}

/** A short description of a task, for messages. */
export function describeTask({ spec }: CodingTask): string {
  switch (spec.type) {
    case "Review":
      return `review of ${spec.project.path}!${spec.mergeRequest.iid}`;
    case "Command":
      return `comment ${spec.note.id} on ${spec.project.path}!${spec.mergeRequest.iid}`;
    case "Issue":
      return `issue ${spec.issue.key}`;
  }
}
