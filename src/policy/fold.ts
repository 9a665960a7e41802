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

// The record of a target is a set of facts, each kept once, and figures derived from them. So facts may arrive in any
// order, from any replica, any number of times: the record comes out the same.

/** The record with `end` in it, and without a holder if that execution held the target. */
export function foldEnd(
  status: RemediationTargetStatus | undefined,
  { workflowId, end, backoff }: { workflowId: string; end: ExecutionEnd; backoff: FailureBackoff },
): RemediationTargetStatus {
  const freed = status?.holder?.executionUid === end.executionUid ? withoutHolder(status) : status;
  return withHistory(freed, workflowId, (history) => derive(withEnd(history, end), backoff));
}

/** The record with a person's acknowledgement that trying again is safe. */
export function foldAck(
  status: RemediationTargetStatus | undefined,
  { workflowId, ack, backoff }: { workflowId: string; ack: Acknowledgement; backoff: FailureBackoff },
): RemediationTargetStatus {
  return withHistory(status, workflowId, (history) => {
    return derive({ ...history, ack: later(history.ack, ack, ackOrder) as Acknowledgement }, backoff);
  });
}

/** The record with the fact that the workflow's successes do not last here. */
export function foldIneffective(
  status: RemediationTargetStatus | undefined,
  { workflowId, ineffective, backoff }: { workflowId: string; ineffective: Ineffectiveness; backoff: FailureBackoff },
): RemediationTargetStatus {
  return withHistory(status, workflowId, (history) => {
    return derive({ ...history, ineffective: later(history.ineffective, ineffective, ineffectiveOrder) }, backoff);
  });
}

/** Whether a person has acknowledged `end`, or anything that ended later. */
export function isCovered(ack: Acknowledgement | undefined, { completedAt }: ExecutionEnd): boolean {
  return ack !== undefined && Date.parse(ack.coversUntil) >= Date.parse(completedAt);
}

/** The record with the holder of the target in it. */
export function withHolder(status: RemediationTargetStatus | undefined, holder: RecordHolder): RemediationTargetStatus {
  return { ...status, holder };
}

/** The record without its holder, if that is `executionUid`: it was admitted, but never ran. */
export function freeHolder(status: RemediationTargetStatus | undefined, executionUid: string): RemediationTargetStatus {
  return status?.holder?.executionUid === executionUid ? withoutHolder(status) : { ...status };
}

/** The history of `workflowId` in the record, if there is one. */
export function historyOf(
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

/** Whether `end` is in the record already, or so old that it would not change anything. */
export function isFolded(
  status: RemediationTargetStatus | undefined,
  { workflowId, end }: { workflowId: string; end: ExecutionEnd },
): boolean {
  if (status?.holder?.executionUid === end.executionUid) return false;
  const history = historyOf(status, workflowId);
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
  const changed = change(historyOf(status, workflowId) ?? { workflowId, consecutiveFailures: 0, recentEnds: [] });
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

/** The figures of a history, from its facts alone. */
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

/** Times written by different replicas may be equal, or differ in how they are written: compare as time, then by uid. */
function endOrder({ completedAt, executionUid }: ExecutionEnd): string {
  return `${instant(completedAt)} ${executionUid}`;
}

function ineffectiveOrder({ latestSuccess, foundAt }: Ineffectiveness): string {
  // The same finding may name the success before and after its cooldown was ended; the later fact wins.
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

/** When a workflow may be tried again after its `count`-th failure in a row before acting. */
function nextAllowedAfter(
  { completedAt, executionUid }: ExecutionEnd,
  count: number,
  { baseMs, maxMs, maxExponent, jitter }: FailureBackoff,
): string {
  const attempt = Math.min(count, maxExponent + 1);
  const delayMs = backoffMs(attempt, { baseMs, maxMs, jitter }, jitterFraction(executionUid));
  return new Date(Date.parse(completedAt) + Math.round(delayMs)).toISOString();
}

/** A number in [0, 1) that every replica draws alike: each one that folds the failure has to compute the same time. */
function jitterFraction(uid: string): number {
  let hash = 2_166_136_261;
  for (let i = 0; i < uid.length; i++) hash = Math.imul(hash ^ uid.charCodeAt(i), 16_777_619);
  return (hash >>> 0) / 2 ** 32;
}

/**
 * Until when a check can answer otherwise because of what a workflow did to a target: its cooldown, its backoff, and the
 * time in which successes that do not last are counted. Infinite while a person has to acknowledge something.
 */
export function neededUntilMs(
  history: WorkflowHistory,
  { cooldownMs, settings }: { readonly cooldownMs: number; readonly settings: PolicySettings },
): number {
  const { lastExecutionFailure, lastSuccess, ack, ineffective, consecutiveFailures, nextAllowed } = history;
  const isUnreviewed = lastExecutionFailure !== undefined && !isCovered(ack, lastExecutionFailure);
  const isExhausted = consecutiveFailures >= settings.maxConsecutiveFailures;
  if (isUnreviewed || isExhausted || ineffective) return Number.POSITIVE_INFINITY;
  const successes = lastSuccess ? [Date.parse(lastSuccess.completedAt)] : [];
  return Math.max(
    Number.NEGATIVE_INFINITY,
    ...(nextAllowed === undefined ? [] : [Date.parse(nextAllowed)]),
    ...successes.map((completedMs) => completedMs + Math.max(cooldownMs, settings.ineffective.withinMs)),
  );
}
