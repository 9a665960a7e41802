import { CoordinationError, isCoordinationError, keyOf, type Lease, type Locks } from "../../coordination/index.ts";
import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import { taskPause } from "../../policy/index.ts";
import { begunAt, type CodingTask, codingTasks, isClosedTask } from "../../resources/index.ts";
import { backoffMs } from "../../time/index.ts";
import type { AnnounceTask } from "../announce.ts";
import { cancelRequest } from "../decide.ts";
import { cancelledEnd, type End, type Failed, failedEnd, remoteErrorEnd, supersededEnd } from "../end.ts";
import { runBuiltIn } from "../flows/built-in.ts";
import { runCommand } from "../flows/command.ts";
import { runIssue } from "../flows/issue.ts";
import { reportEnd } from "../flows/report.ts";
import { runReview } from "../flows/review.ts";
import { queueKey } from "../queue.ts";
import { isRemoteError } from "../remote-error.ts";
import { describeTask, endedStatus, retryStatus, runningStatus, uncountedStatus } from "../statuses.ts";
import {
  type Attempt,
  type AttemptDeps,
  type CommandAttempt,
  type IssueAttempt,
  mergeRequestRef,
  type ReviewAttempt,
} from "./attempt.ts";
import { Conversation } from "./conversation.ts";
import { guardGitLab, guardJira } from "./lease-guard.ts";
import { TaskProgress, TaskTaken } from "./progress.ts";
import { type Interruption, toInterruption } from "./workers.ts";

/**
 * `busy`: another replica holds the lock. `left`: another replica continues. `again`: the task is retried later.
 * `paused`: the task did not start. `closed`: the task has ended.
 */
export type AttemptOutcome = "busy" | "left" | "again" | "paused" | "closed";

export interface RunAttemptDeps extends AttemptDeps {
  readonly locks: Locks;
  readonly announce: AnnounceTask;
  readonly lockWaitMs: number;
}

/** Runs one attempt at a task, under its lock, and writes the result to the task. */
export async function runAttempt(
  found: CodingTask,
  deps: RunAttemptDeps,
  interrupted: AbortSignal,
): Promise<AttemptOutcome> {
  const { locks, lockWaitMs: waitMs } = deps;
  let lease: Lease;
  try {
    const purpose = describeTask(found);
    lease = await locks.acquire(keyOf(...queueKey(found)), { waitMs, signal: interrupted, purpose });
  } catch (error) {
    if (isCoordinationError(error, "timeout") || interrupted.aborted) return "busy";
    throw error;
  }
  await using held = lease;
  try {
    return await attemptUnderLock(found, deps, held, interrupted);
  } catch (error) {
    // The new lock holder continues with the task.
    if (error instanceof TaskTaken || held.signal.aborted || isCoordinationError(error, "lost")) return "left";
    throw error;
  }
}

async function attemptUnderLock(
  found: CodingTask,
  deps: RunAttemptDeps,
  lease: Lease,
  interrupted: AbortSignal,
): Promise<AttemptOutcome> {
  const { client } = deps;
  const { name = "", namespace = "", uid = "" } = found.metadata;
  const task = await client.get(codingTasks, { name, namespace });
  if (!task || task.metadata.uid !== uid || isClosedTask(task)) return "left";
  // A pause may have begun while the task waited for a worker and for the lock.
  const isCancelled = cancelRequest(task) !== undefined;
  if (!isCancelled && taskPause(task, deps.pauses(), client.serverNowMs())) return "paused";

  const progress = new TaskProgress(task, { ...deps, lease });
  const { spec } = task;
  const gitlab = guardGitLab(deps.gitlab, lease);
  const attempt: Attempt = {
    ...deps,
    gitlab,
    jira: deps.jira && guardJira(deps.jira, lease),
    spec,
    ...(spec.type === "Issue" ? {} : { conversation: new Conversation(gitlab, mergeRequestRef(spec)) }),
    uid,
    progress,
    lease,
    signal: AbortSignal.any([interrupted, lease.signal]),
  };
  const attemptsBefore = progress.attempts;
  const uncount = (message: string) => progress.write((task) => uncountedStatus(task, message, attemptsBefore));
  try {
    const end = await runToEnd(attempt, deps, interrupted);
    if (end === "stopping") {
      await uncount("handed over by a stopping replica");
      return "left";
    }
    if (end.kind === "failed" && canRetry(attempt, end)) {
      return await scheduleRetry(attempt, end, end.isOutage ? attemptsBefore : progress.attempts);
    }
    return await closeTask(attempt, end, deps);
  } catch (error) {
    // A task whose work is done must not fail because its end cannot be recorded yet.
    if (error instanceof LedgerError) await uncount("the ledger is unavailable; will retry");
    // The outage may be over, or only a watch was cut. Otherwise the attempt counts, as it does after a crash.
    if (isUnavailable(error)) await uncount("the API server was unavailable; will retry").catch(() => {});
    throw error;
  }
}

/** Other errors of the API server may occur in every attempt, and attempts at a task are limited. */
function isUnavailable(error: unknown): boolean {
  return error instanceof KubeError && error.code === "unavailable";
}

async function runToEnd(attempt: Attempt, deps: RunAttemptDeps, interrupted: AbortSignal): Promise<End | "stopping"> {
  const { progress, settings, client } = attempt;
  const before = progress.resultOf("failed");
  // Only the report to people is left.
  if (before) return failedEnd(before["reason"] ?? "Unknown", before["message"] ?? "it failed");
  const by = cancelRequest(progress.task);
  if (by !== undefined) return cancelledEnd(by);
  if (progress.attempts >= settings.maxAttempts) {
    return failedEnd("GaveUp", `none of ${progress.attempts} attempts finished`);
  }
  const isFirstTry = begunAt(progress.task) === undefined;
  await progress.write((task) => runningStatus(task, client.serverNowMs()));
  await deps.announce.recordStart(progress.task, isFirstTry);
  try {
    return await runFlow(attempt);
  } catch (error) {
    if (error instanceof TaskTaken || attempt.lease.signal.aborted) throw error;
    if (interrupted.aborted) return interruptionEnd(toInterruption(interrupted));
    return errorEnd(attempt, error);
  }
}

function runFlow(attempt: Attempt): Promise<End> {
  const { spec } = attempt;
  switch (spec.type) {
    case "Review":
      return runReview(attempt as ReviewAttempt);
    case "Command":
      return spec.note.verb === "do" ? runCommand(attempt as CommandAttempt) : runBuiltIn(attempt as CommandAttempt);
    case "Issue":
      return runIssue(attempt as IssueAttempt);
  }
}

function interruptionEnd(interruption: Interruption): End | "stopping" {
  switch (interruption.kind) {
    case "stopping":
      return "stopping";
    case "cancelled":
      return cancelledEnd(interruption.by);
    case "superseded":
      return supersededEnd(interruption.by);
  }
}

/** Errors of our own stores go to the controller, which retries. */
function errorEnd({ log, progress }: Attempt, error: unknown): Failed {
  if ([KubeError, CoordinationError, LedgerError].some((own) => error instanceof own)) throw error;
  if (isRemoteError(error)) return remoteErrorEnd(error);
  log.error("unexpected task error", { task: progress.task.metadata.name, error });
  return failedEnd("Unexpected", "unexpected error; the log of the agent has the details", true);
}

function canRetry(attempt: Attempt, { retry, isOutage = false }: Failed): boolean {
  const { progress, settings } = attempt;
  if (!retry) return false;
  if (!isOutage) return progress.attempts < settings.maxAttempts;
  return elapsedMs(attempt) < settings.patienceMs;
}

/** The time in the queue or in a pause does not count towards the limit for outages. */
function elapsedMs({ progress, spec, client }: Attempt): number {
  return client.serverNowMs() - Date.parse(begunAt(progress.task) ?? spec.receivedTime);
}

async function scheduleRetry(attempt: Attempt, failure: Failed, counted: number): Promise<AttemptOutcome> {
  const { progress, client, settings, random } = attempt;
  const { backoff } = settings;
  const nowMs = client.serverNowMs();
  // Attempts during an outage are not counted: the longer it lasts, the longer the next wait.
  const longMs = Math.min(backoff.maxMs, elapsedMs(attempt) / 4);
  const pauseMs = Math.max(backoffMs(Math.max(1, counted), backoff, random.fraction()), failure.isOutage ? longMs : 0);
  const atMs = nowMs + Math.max(failure.retryAfterMs ?? 0, pauseMs);
  await progress.write((task) => retryStatus(task, { why: failure.message, atMs, attempts: counted }));
  return "again";
}

/** The report is posted before the end is written: a closed task is not observed again. */
async function closeTask(attempt: Attempt, end: End, { announce }: RunAttemptDeps): Promise<AttemptOutcome> {
  const { progress, client, log } = attempt;
  const isReported = (end.kind === "failed" || end.kind === "cancelled") && !end.isQuiet;
  if (isReported) {
    const { kind, reason = "", message } = end;
    await progress.step(kind, async () => ({ reason, message }));
    try {
      await reportEnd({ ...attempt, signal: attempt.lease.signal }, end);
    } catch (error) {
      if (!isRemoteError(error)) throw error;
      const reportFailure = remoteErrorEnd(error);
      if (canRetry(attempt, reportFailure)) return scheduleRetry(attempt, reportFailure, progress.attempts);
      log.warn("task result note failed", { task: progress.task.metadata.name, error });
    }
  }
  const status = endedStatus(progress.task, end, client.serverNowMs());
  await announce.recordEnd(progress.task, status);
  await progress.write(() => status);
  announce.reportEnd(progress.task);
  return "closed";
}
