import {
  type Acknowledgement,
  type ExecutionEnd,
  type Ineffectiveness,
  keptEnds,
  type RecordHolder,
  type RemediationTargetStatus,
  type WorkflowHistory,
} from "../resources/index.ts";
import { backoffMs } from "../time/index.ts";
import type { FailureBackoff, PolicySettings } from "./settings.ts";

// The record of a target contains facts, each once, and values derived from them. So the record does not depend on the order in
// which replicas fold facts, nor on how often they do.

/** Returns the record with an end, and without its holder if that is the ended execution. */
export function foldEnd(
  status: RemediationTargetStatus | undefined,
  { workflowId, end, backoff }: { workflowId: string; end: ExecutionEnd; backoff: FailureBackoff },
): RemediationTargetStatus {
  const freed = status?.holder?.executionUid === end.executionUid ? withoutHolder(status) : status;
  return withHistory(freed, workflowId, (history) => derive(withEnd(history, end), backoff));
}

/** Returns the record with an operator's acknowledgement that a retry is safe. */
export function foldAck(
  status: RemediationTargetStatus | undefined,
  { workflowId, ack, backoff }: { workflowId: string; ack: Acknowledgement; backoff: FailureBackoff },
): RemediationTargetStatus {
  return withHistory(status, workflowId, (history) => {
    return derive({ ...history, ack: later(history.ack, ack, ackOrder) as Acknowledgement }, backoff);
  });
}

/** Returns the record with the fact that the successes of a workflow do not last on this target. */
export function foldIneffective(
  status: RemediationTargetStatus | undefined,
  { workflowId, ineffective, backoff }: { workflowId: string; ineffective: Ineffectiveness; backoff: FailureBackoff },
): RemediationTargetStatus {
  return withHistory(status, workflowId, (history) => {
    return derive({ ...history, ineffective: later(history.ineffective, ineffective, ineffectiveOrder) }, backoff);
  });
}

/** Whether the acknowledgement covers this end: it covers all that ended up to its time. */
export function isCovered(ack: Acknowledgement | undefined, { completedAt }: ExecutionEnd): boolean {
  return ack !== undefined && Date.parse(ack.coversUntil) >= Date.parse(completedAt);
}

/** Returns the record with a holder of the target. */
export function withHolder(status: RemediationTargetStatus | undefined, holder: RecordHolder): RemediationTargetStatus {
  return { ...status, holder };
}

/** Returns the record without its holder if that is `executionUid`, which was admitted and never ran. */
export function freeHolder(status: RemediationTargetStatus | undefined, executionUid: string): RemediationTargetStatus {
  return status?.holder?.executionUid === executionUid ? withoutHolder(status) : { ...status };
}

/** Returns the history of `workflowId` in the record, if there is one. */
export function findHistory(
  status: RemediationTargetStatus | undefined,
  workflowId: string,
): WorkflowHistory | undefined {
  return status?.workflows?.find((history) => history.workflowId === workflowId);
}

/** Lists every end in a history. One that is there several times comes first as the latest of its kind. */
export function listEnds(history: WorkflowHistory): readonly ExecutionEnd[] {
  const { lastExecutionFailure, lastFailure, lastSuccess, ineffective, recentEnds } = history;
  const latest = [lastExecutionFailure, lastFailure, lastSuccess, ineffective?.latestSuccess];
  return [...latest.filter((end) => end !== undefined), ...recentEnds];
}

/** Finds the first matching end in the histories of a record. */
export function findEnd(
  status: RemediationTargetStatus | undefined,
  matches: (end: ExecutionEnd) => boolean,
): { readonly history: WorkflowHistory; readonly end: ExecutionEnd } | undefined {
  for (const history of status?.workflows ?? []) {
    const end = listEnds(history).find(matches);
    if (end) return { history, end };
  }
  return undefined;
}

/** Whether the record contains this end, or would drop it because all kept ends are later. */
export function isFolded(
  status: RemediationTargetStatus | undefined,
  { workflowId, end }: { workflowId: string; end: ExecutionEnd },
): boolean {
  if (status?.holder?.executionUid === end.executionUid) return false;
  const history = findHistory(status, workflowId);
  if (!history) return false;
  const known = [history.lastSuccess, ...history.recentEnds].find((one) => one?.executionUid === end.executionUid);
  if (known) return known.cooldownEnded === true || end.cooldownEnded !== true;
  const oldest = history.recentEnds.at(-1);
  return history.recentEnds.length === keptEnds && oldest !== undefined && endOrder(end) < endOrder(oldest);
}

function withHistory(
  status: RemediationTargetStatus | undefined,
  workflowId: string,
  change: (history: WorkflowHistory) => WorkflowHistory,
): RemediationTargetStatus {
  const others = (status?.workflows ?? []).filter((history) => history.workflowId !== workflowId);
  const changed = change(findHistory(status, workflowId) ?? { workflowId, consecutiveFailures: 0, recentEnds: [] });
  return { ...status, workflows: [...others, changed].sort(byWorkflow) };
}

function withoutHolder({ holder: _freed, ...rest }: RemediationTargetStatus): RemediationTargetStatus {
  return rest;
}

function withEnd(history: WorkflowHistory, reported: ExecutionEnd): WorkflowHistory {
  const known = history.recentEnds.find(({ executionUid }) => executionUid === reported.executionUid);
  const end = known?.cooldownEnded ? { ...reported, cooldownEnded: true as const } : reported;
  const others = history.recentEnds.filter(({ executionUid }) => executionUid !== end.executionUid);
  const recentEnds = [...others, end].sort(newestFirst).slice(0, keptEnds);
  const { lastSuccess, lastFailure, lastExecutionFailure } = history;

  if (end.outcome === "Success") return { ...history, recentEnds, lastSuccess: newer(lastSuccess, end) };
  return {
    ...history,
    recentEnds,
    lastFailure: newer(lastFailure, end),
    ...(end.wasExecutionFailure ? { lastExecutionFailure: newer(lastExecutionFailure, end) } : {}),
  };
}

/** Derives the values of a history from its facts. */
function derive(
  { nextAllowed: _old, ineffective, ...facts }: WorkflowHistory,
  backoff: FailureBackoff,
): WorkflowHistory {
  const lasts = ineffective && !isCovered(facts.ack, ineffective.latestSuccess);
  const history = lasts ? { ...facts, ineffective } : facts;
  const since = Math.max(parseTime(history.lastSuccess?.completedAt), parseTime(history.ack?.coversUntil));
  const failures = history.recentEnds.filter(
    ({ outcome, wasExecutionFailure, completedAt }) =>
      outcome === "Failed" && !wasExecutionFailure && Date.parse(completedAt) > since,
  );
  const [latest] = failures;
  if (!latest) return { ...history, consecutiveFailures: 0 };

  const nextAllowed = nextAllowedAfter(latest, failures.length, backoff);
  return { ...history, consecutiveFailures: failures.length, nextAllowed };
}

function newer(known: ExecutionEnd | undefined, end: ExecutionEnd): ExecutionEnd {
  if (known?.executionUid === end.executionUid) return known.cooldownEnded ? known : end;
  return later(known, end, endOrder);
}

function later<T>(a: T | undefined, b: T, order: (fact: T) => string): T {
  return a !== undefined && order(a) > order(b) ? a : b;
}

/** Returns a text that orders ends by time, then by uid. Times can be equal, or be written with different precision. */
function endOrder({ completedAt, executionUid }: ExecutionEnd): string {
  return `${instant(completedAt)} ${executionUid}`;
}

function ineffectiveOrder({ latestSuccess, foundAt }: Ineffectiveness): string {
  // Two facts can have the same success, before and after its cooldown was ended. The latter is kept.
  return `${endOrder(latestSuccess)} ${instant(foundAt)} ${latestSuccess.cooldownEnded ?? false}`;
}

function ackOrder({ coversUntil, at, executionUid, by, reason }: Acknowledgement): string {
  return `${instant(coversUntil)} ${instant(at)} ${executionUid} ${by} ${reason}`;
}

function instant(time: string): string {
  return new Date(time).toISOString();
}

function parseTime(time: string | undefined): number {
  return time === undefined ? Number.NEGATIVE_INFINITY : Date.parse(time);
}

function newestFirst(a: ExecutionEnd, b: ExecutionEnd): number {
  return endOrder(a) > endOrder(b) ? -1 : 1;
}

function byWorkflow(a: WorkflowHistory, b: WorkflowHistory): number {
  return a.workflowId < b.workflowId ? -1 : 1;
}

/** Returns when a retry is allowed after the `count`-th failure in a row before acting. */
function nextAllowedAfter(
  { completedAt, executionUid }: ExecutionEnd,
  count: number,
  { baseMs, maxMs, maxExponent, jitter }: FailureBackoff,
): string {
  const attempt = Math.min(count, maxExponent + 1);
  const delayMs = backoffMs(attempt, { baseMs, maxMs, jitter }, jitterFraction(executionUid));
  return new Date(Date.parse(completedAt) + Math.round(delayMs)).toISOString();
}

/** Returns a number in [0, 1) that depends only on `uid`: every replica that folds the failure has to compute the same time. */
function jitterFraction(uid: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < uid.length; i++) hash = Math.imul(hash ^ uid.charCodeAt(i), 16_777_619);
  return (hash >>> 0) / 2 ** 32;
}

/**
 * Returns until when a history can change the result of a check: by its cooldown, its backoff, and the period in which successes
 * that do not last are counted. Infinite while an acknowledgement is due.
 */
export function neededUntilMs(
  history: WorkflowHistory,
  { cooldownMs, settings }: { readonly cooldownMs: number; readonly settings: PolicySettings },
): number {
  const { lastExecutionFailure, lastSuccess, ack, ineffective, consecutiveFailures, nextAllowed } = history;
  const isUnreviewed = lastExecutionFailure !== undefined && !isCovered(ack, lastExecutionFailure);
  const isExhausted = consecutiveFailures >= settings.maxConsecutiveFailures;
  if (isUnreviewed || isExhausted || ineffective) return Number.POSITIVE_INFINITY;
  const lastsMs = Math.max(cooldownMs, settings.ineffective.withinMs);
  return Math.max(parseTime(nextAllowed), parseTime(lastSuccess?.completedAt) + lastsMs);
}
