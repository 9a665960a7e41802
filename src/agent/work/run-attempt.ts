import { CoordinationError, isCoordinationError, keyOf, type Lease, type Locks } from "../../coordination/index.ts";
import { KubeError } from "../../kube/index.ts";
import { LedgerError } from "../../ledger/index.ts";
import { taskPause } from "../../policy/index.ts";
import { begunAt, type CodingTask, codingTasks } from "../../resources/index.ts";
import { backoffMs } from "../../time/index.ts";
import type { AnnounceTask } from "../announce.ts";
import { cancelRequest } from "../decide.ts";
import { type End, endOfRemoteError, type Failed, failed } from "../end.ts";
import { builtIn } from "../flows/built-in.ts";
import { command } from "../flows/command.ts";
import { issue } from "../flows/issue.ts";
import { report } from "../flows/report.ts";
import { review } from "../flows/review.ts";
import { isRemoteError } from "../remote-error.ts";
import { isClosed, lineOf } from "../snapshot.ts";
import { describe, ended, handedOver, running, waitingForRetry } from "../statuses.ts";
import {
  type Attempt,
  type CommandAttempt,
  type IssueAttempt,
  mergeRequestRef,
  type ReviewAttempt,
  type Tools,
} from "./attempt.ts";
import { Conversation } from "./conversation.ts";
import { heldGitLab, heldJira } from "./held.ts";
import { type Interruption, interruptionOf } from "./interruption.ts";
import { Journal, TaskTaken } from "./journal.ts";

/**
 * `busy`: another replica holds the lock. `left`: another replica continues. `again`: the task is retried later.
 * `paused`: the task did not start. `closed`: the task has ended.
 */
export type AttemptOutcome = "busy" | "left" | "again" | "paused" | "closed";

export interface AttemptTools extends Tools {
  readonly locks: Locks;
  readonly announce: AnnounceTask;
  readonly lockWaitMs: number;
}

/** Runs one attempt at a task, under its lock, and writes the result to the task. */
export async function runAttempt(
  found: CodingTask,
  tools: AttemptTools,
  interrupted: AbortSignal,
): Promise<AttemptOutcome> {
  const { locks, lockWaitMs: waitMs } = tools;
  let lease: Lease;
  try {
    const purpose = describe(found);
    lease = await locks.acquire(keyOf(...lineOf(found)), { waitMs, signal: interrupted, purpose });
  } catch (error) {
    if (isCoordinationError(error, "timeout") || interrupted.aborted) return "busy";
    throw error;
  }
  await using held = lease;
  try {
    return await underLock(found, tools, held, interrupted);
  } catch (error) {
    // The new lock holder continues with the task.
    if (error instanceof TaskTaken || held.signal.aborted || isCoordinationError(error, "lost")) return "left";
    throw error;
  }
}

async function underLock(
  found: CodingTask,
  tools: AttemptTools,
  lease: Lease,
  interrupted: AbortSignal,
): Promise<AttemptOutcome> {
  const { client } = tools;
  const { name = "", namespace = "", uid = "" } = found.metadata;
  const task = await client.get(codingTasks, { name, namespace });
  if (!task || task.metadata.uid !== uid || isClosed(task)) return "left";
  // A pause may have begun while the task waited for a worker and for the lock.
  const isCancelled = cancelRequest(task) !== undefined;
  if (!isCancelled && taskPause(task, tools.pauses(), client.serverNowMs())) return "paused";

  const journal = new Journal(client, task, lease, tools.redact);
  const { spec } = task;
  const gitlab = heldGitLab(tools.gitlab, lease);
  const attempt: Attempt = {
    ...tools,
    gitlab,
    jira: tools.jira && heldJira(tools.jira, lease),
    spec,
    ...(spec.type === "Issue" ? {} : { conversation: new Conversation(gitlab, mergeRequestRef(spec)) }),
    uid,
    journal,
    lease,
    signal: AbortSignal.any([interrupted, lease.signal]),
  };
  const end = await endOf(attempt, tools, interrupted);
  if (end === "stopping") {
    await journal.write(handedOver);
    return "left";
  }
  if (end.kind === "failed" && mayTryAgain(attempt, end)) {
    return again(attempt, end, attemptsOf(journal) - (end.isOutage ? 1 : 0));
  }
  return close(attempt, end, tools);
}

async function endOf(attempt: Attempt, tools: AttemptTools, interrupted: AbortSignal): Promise<End | "stopping"> {
  const { journal, settings, client } = attempt;
  const before = journal.resultOf("failed");
  // Only the report to people is left.
  if (before) return failed(before["reason"] ?? "Unknown", before["message"] ?? "it failed");
  const by = cancelRequest(journal.task);
  if (by !== undefined) return { kind: "cancelled", message: `cancelled: ${by}` };
  if (attemptsOf(journal) >= settings.maxAttempts) {
    return failed("GaveUp", `none of ${attemptsOf(journal)} attempts finished`);
  }
  const isFirstTry = begunAt(journal.task) === undefined;
  await journal.write((task) => running(task, client.serverNowMs()));
  await tools.announce.began(journal.task, isFirstTry);
  try {
    return await flowOf(attempt);
  } catch (error) {
    if (error instanceof TaskTaken || attempt.lease.signal.aborted) throw error;
    if (interrupted.aborted) return endOfInterruption(interruptionOf(interrupted));
    return endOfError(attempt, error);
  }
}

function flowOf(attempt: Attempt): Promise<End> {
  const { spec } = attempt;
  switch (spec.type) {
    case "Review":
      return review(attempt as ReviewAttempt);
    case "Command":
      return spec.note.verb === "do" ? command(attempt as CommandAttempt) : builtIn(attempt as CommandAttempt);
    case "Issue":
      return issue(attempt as IssueAttempt);
  }
}

function endOfInterruption(interruption: Interruption): End | "stopping" {
  switch (interruption.kind) {
    case "stopping":
      return "stopping";
    case "cancelled":
      return { kind: "cancelled", message: `cancelled: ${interruption.by}` };
    case "superseded":
      return { kind: "superseded", by: interruption.by, message: `superseded by a newer commit: ${interruption.by}` };
  }
}

/** Errors of our own stores go to the controller, which retries without counting. */
function endOfError({ log, journal }: Attempt, error: unknown): Failed {
  if ([KubeError, CoordinationError, LedgerError].some((own) => error instanceof own)) throw error;
  if (isRemoteError(error)) return endOfRemoteError(error);
  log.error("unexpected task error", { task: journal.task.metadata.name, error });
  return failed("Unexpected", "unexpected error; the log of the agent has the details", true);
}

function mayTryAgain(attempt: Attempt, { retry, isOutage = false }: Failed): boolean {
  const { journal, settings } = attempt;
  if (!retry) return false;
  if (!isOutage) return attemptsOf(journal) < settings.maxAttempts;
  return triedForMs(attempt) < settings.patienceMs;
}

/** The time in the queue or in a pause does not count towards the limit for outages. */
function triedForMs({ journal, spec, client }: Attempt): number {
  return client.serverNowMs() - Date.parse(begunAt(journal.task) ?? spec.receivedTime);
}

async function again(attempt: Attempt, failure: Failed, counted: number): Promise<AttemptOutcome> {
  const { journal, client, settings, random } = attempt;
  const { backoff } = settings;
  const nowMs = client.serverNowMs();
  // Attempts during an outage are not counted: the longer it lasts, the longer the next wait.
  const longMs = Math.min(backoff.maxMs, triedForMs(attempt) / 4);
  const pauseMs = Math.max(backoffMs(Math.max(1, counted), backoff, random.fraction()), failure.isOutage ? longMs : 0);
  const atMs = nowMs + Math.max(failure.retryAfterMs ?? 0, pauseMs);
  await journal.write((task) => waitingForRetry(task, { why: failure.message, atMs, attempts: counted }));
  return "again";
}

/** The report is posted before the end is written: a closed task is not observed again. */
async function close(attempt: Attempt, end: End, { announce }: AttemptTools): Promise<AttemptOutcome> {
  const { journal, client, log } = attempt;
  const isTold = (end.kind === "failed" || end.kind === "cancelled") && !end.isQuiet;
  if (end.kind === "failed" && isTold) await remember(attempt, end);
  if (isTold) {
    try {
      await report({ ...attempt, signal: attempt.lease.signal }, end);
    } catch (error) {
      if (!isRemoteError(error)) throw error;
      const untold = endOfRemoteError(error);
      if (mayTryAgain(attempt, untold)) return again(attempt, untold, attemptsOf(journal));
      log.warn("task result note failed", { task: journal.task.metadata.name, error });
    }
  }
  const status = ended(journal.task, end, client.serverNowMs());
  await announce.ending(journal.task, status);
  await journal.write(() => status);
  announce.ended(journal.task);
  return "closed";
}

async function remember({ journal }: Attempt, { reason, message }: Failed): Promise<void> {
  await journal.step("failed", async () => ({ reason, message }));
}

function attemptsOf({ task }: Journal): number {
  return task.status?.attempts ?? 0;
}
