import type { Effect, HistoryEvent } from "./history.ts";
import { type Tenancies, type Tenancy, tenanciesIn } from "./tenancy.ts";

/**
 * - `exclusion`: two workers held leases of one key at the same time
 * - `fence order`: a later grant had no larger fence
 * - `witness`: the resource accepted effects of a holder after those of its successor
 * - `notice`: a holder was not notified before another worker was granted the key
 * - `born dead`: a lease had ended when it was handed out
 * - `outcome`: what `release` returned is not what happened
 * - `liveness`: a worker waited in vain after all faults had ended
 * - `ghost`: no worker was left, and a key stayed taken or a bid stayed queued
 * - `exit`: a process crashed, or did not end by itself after `close`
 * - `quarantine`: a restarted server that may have forgotten leases granted one too early, or took one from its holder
 */
export type Rule =
  | "exclusion"
  | "fence order"
  | "witness"
  | "notice"
  | "born dead"
  | "outcome"
  | "liveness"
  | "ghost"
  | "exit"
  | "quarantine";

export interface Violation {
  readonly rule: Rule;
  readonly what: string;
  /** On the history's clock. */
  readonly at: number;
}

/** A renewal and its answer over a network that is well, on a machine that is busy. */
const roundTripMs = 100;
/** How much later than due a timer may come before we call the event loop stalled. */
const timerMs = 25;

/** Everything in `history` that locks must not let happen. */
export function violationsIn(history: readonly HistoryEvent[]): Violation[] {
  const tenancies = tenanciesIn(history);
  const violations = effectsOutOfOrder(history.filter((event) => event.event === "effect"));
  for (const ofKey of tenancies.byKey.values()) {
    for (const [i, tenancy] of ofKey.entries()) {
      const later = ofKey.slice(i + 1);
      violations.push(
        ...overlaps(tenancy, later, tenancies),
        ...fencesOutOfOrder(tenancy, later[0], tenancies),
        ...lateNotice(tenancy, later[0], tenancies),
        ...deadAtBirth(tenancy, tenancies),
        ...wrongOutcome(tenancy, later[0], tenancies),
        ...grantedInQuarantine(tenancy, ofKey.slice(0, i), tenancies),
        ...lostInQuarantine(tenancy, tenancies),
      );
    }
  }
  return violations.sort((a, b) => a.at - b.at);
}

/** Until when the holder of `tenancy` counted on it: an early end by its own clock counts, asked or not. */
function heldUntil(tenancy: Tenancy, { killed }: Tenancies): number {
  const { lostAt = Infinity, releasingAt = Infinity, endsAt, worker } = tenancy;
  return Math.min(lostAt, releasingAt, endsAt, killed.get(worker) ?? Infinity);
}

function overlaps(tenancy: Tenancy, later: readonly Tenancy[], all: Tenancies): Violation[] {
  const until = heldUntil(tenancy, all);
  return later
    .filter((other) => other.grantedAt < until)
    .filter((other) => !excusedByDeletion(tenancy, other, all, (stale) => heldUntil(stale, all)))
    .map((other) => ({
      rule: "exclusion",
      at: other.grantedAt,
      what: `${name(other)} was granted while ${name(tenancy)} believed in its lease for ${ms(until - other.grantedAt)} more`,
    }));
}

/**
 * The lock was deleted from outside, and two hold it: the one with the smaller fence detects that at its next renewal,
 * due a third of the ttl later; if it cannot renew, when its lease ends. `until` is when it is notified.
 */
function excusedByDeletion(one: Tenancy, other: Tenancy, all: Tenancies, until: (stale: Tenancy) => number): boolean {
  const [stale, rightful] = one.fence < other.fence ? [one, other] : [other, one];
  const noticed = until(stale);
  return deletions(one.key, all).some(({ from }) => {
    if (from > rightful.grantedAt || from < stale.grantedAt - stale.ttlMs) return false;
    const allowedMs = isTroubled(stale.worker, from, noticed, all)
      ? stale.ttlMs
      : stale.ttlMs / 3 + stalledMs(stale.worker, from, noticed, all);
    return noticed <= Math.max(from, stale.grantedAt) + allowedMs + roundTripMs;
  });
}

function deletions(key: string, { troubles }: Tenancies) {
  return troubles.filter((trouble) => trouble.fault === "lock deleted" && trouble.key === key);
}

/** Was something broken on purpose that keeps the worker from hearing of its lock? */
function isTroubled(worker: string, from: number, to: number, { troubles }: Tenancies): boolean {
  return troubles.some(
    (trouble) =>
      (trouble.worker ?? worker) === worker && trouble.to > trouble.from && trouble.from < to && trouble.to > from,
  );
}

/** For how long the worker got no processor. */
function stalledMs(worker: string, from: number, to: number, { stalls }: Tenancies): number {
  let sum = 0;
  for (const stall of stalls) {
    if (stall.worker === worker) sum += Math.max(0, Math.min(to, stall.to) - Math.max(from, stall.from));
  }
  return sum;
}

/** Did the worker not run from `from`, at the latest, until `to`? */
function sleptThrough(worker: string, from: number, to: number, { stalls }: Tenancies): boolean {
  return stalls.some((stall) => stall.worker === worker && stall.from <= from + timerMs && to <= stall.to + timerMs);
}

function fencesOutOfOrder(tenancy: Tenancy, next: Tenancy | undefined, all: Tenancies): Violation[] {
  if (!next || next.fence > tenancy.fence) return [];
  // A grant under way while its lock was deleted: the next one may overtake it, and arrives under the larger fence.
  const overtaken = deletions(tenancy.key, all).some(
    ({ from }) => from <= tenancy.grantedAt && next.grantedAt <= from + next.ttlMs,
  );
  if (overtaken && next.fence < tenancy.fence) return [];
  const what = `${name(next)} was granted after ${name(tenancy)} without a larger fence`;
  return [{ rule: "fence order", at: next.grantedAt, what }];
}

/** The signal must come before the next grant, unless the process did not run in between: then nothing can come. */
function lateNotice(tenancy: Tenancy, next: Tenancy | undefined, all: Tenancies): Violation[] {
  const { endsAt, worker } = tenancy;
  const noticed = noticeAt(tenancy);
  if (all.killed.has(worker)) return [];
  if (noticed === Infinity) {
    return [{ rule: "notice", at: endsAt, what: `the holder of ${name(tenancy)} was never notified of its end` }];
  }
  if (!next || noticed <= next.grantedAt || excusedByDeletion(tenancy, next, all, noticeAt)) return [];
  if (sleptThrough(worker, endsAt, noticed, all)) return [];
  const what = `the holder of ${name(tenancy)} was notified ${ms(noticed - next.grantedAt)} after ${name(next)} was granted`;
  return [{ rule: "notice", at: noticed, what }];
}

function noticeAt({ lostAt = Infinity, releasingAt = Infinity }: Tenancy): number {
  return Math.min(lostAt, releasingAt);
}

function deadAtBirth(tenancy: Tenancy, all: Tenancies): Violation[] {
  const { endedFirstAt, grantedAt, worker } = tenancy;
  if (endedFirstAt > grantedAt || sleptThrough(worker, endedFirstAt, grantedAt, all)) return [];
  const what = `${name(tenancy)} had ended ${ms(grantedAt - endedFirstAt)} before it was handed out`;
  return [{ rule: "born dead", at: grantedAt, what }];
}

function wrongOutcome(tenancy: Tenancy, next: Tenancy | undefined, all: Tenancies): Violation[] {
  const { releasingAt, outcome, endsAt } = tenancy;
  if (releasingAt === undefined || all.killed.has(tenancy.worker)) return [];
  const wrong = (what: string): Violation[] => [{ rule: "outcome", at: outcome?.at ?? releasingAt, what }];
  switch (outcome?.reported) {
    case undefined:
      return wrong(`the release of ${name(tenancy)} was never answered`);
    case "released":
      if (!next || next.grantedAt >= releasingAt || excusedByDeletion(tenancy, next, all, noticeAt)) return [];
      return wrong(`${name(tenancy)} was "released" although ${name(next)} had been granted before`);
    case "lost":
      if (outcome.at >= endsAt || tenancy.lostAt !== undefined || mayBeForgotten(tenancy, outcome.at, all)) return [];
      return wrong(`${name(tenancy)} was "lost" ${ms(endsAt - outcome.at)} before its end, without a cause`);
    case "unknown":
      if (outcome.at >= endsAt) return [];
      return wrong(`the release of ${name(tenancy)} was given up ${ms(endsAt - outcome.at)} before the lease ended`);
  }
}

/** Was the lock deleted or its server restarted while the lease was held? */
function mayBeForgotten({ key, grantedAt, ttlMs }: Tenancy, until: number, { troubles }: Tenancies): boolean {
  return troubles.some(
    (trouble) =>
      (trouble.fault === "server restarted" || (trouble.fault === "lock deleted" && trouble.key === key)) &&
      trouble.from < until &&
      // The grant may have been under way for as long as the lease lasts.
      trouble.to > grantedAt - ttlMs,
  );
}

/** A server that may have forgotten leases must not grant their keys before the longest of them has ended. */
function grantedInQuarantine(tenancy: Tenancy, earlier: readonly Tenancy[], all: Tenancies): Violation[] {
  const { grantedAt, worker } = tenancy;
  // What the old server granted may reach a worker late, after the new one has come up.
  const late = all.troubles.filter((trouble) => trouble.worker !== undefined && trouble.fault !== "connection cut");
  const restart = all.troubles.find(
    ({ forgotMs, from, to }) =>
      to < grantedAt &&
      grantedAt < from + forgotMs * 0.99 &&
      !isTroubled(worker, from - 2_000, from, { ...all, troubles: late }) &&
      !sleptThrough(worker, from, grantedAt, all),
  );
  // Callers of one process may pass a lock on among themselves without asking the server.
  if (!restart || earlier.some((other) => holderOf(other) === holderOf(tenancy))) return [];
  const what = `${name(tenancy)} was granted ${ms(grantedAt - restart.from)} after the server was killed, which forgot leases of ${ms(restart.forgotMs)}`;
  return [{ rule: "quarantine", at: grantedAt, what }];
}

/** A holder that finds the server again well before its lease ends keeps it. */
function lostInQuarantine(tenancy: Tenancy, all: Tenancies): Violation[] {
  const { grantedAt, lostAt = Infinity, releasingAt = Infinity, ttlMs, worker } = tenancy;
  const restart = all.troubles.find(
    ({ forgotMs, from, to }) =>
      grantedAt < from &&
      releasingAt > lostAt &&
      lostAt > from &&
      lostAt < from + forgotMs &&
      to - from < ttlMs / 10 &&
      stalledMs(worker, from, lostAt, all) < ttlMs / 10 &&
      !isTroubled(worker, to, lostAt, all),
  );
  if (!restart) return [];
  const what = `${name(tenancy)} was lost ${ms(lostAt - restart.from)} after the server was killed, although it was back soon`;
  return [{ rule: "quarantine", at: lostAt, what }];
}

/** After an accepted effect of one lease, none of an earlier lease of the key may be accepted. */
function effectsOutOfOrder(effects: readonly Effect[]): Violation[] {
  const violations: Violation[] = [];
  const last = new Map<string, Effect>();
  const over = new Set<string>();
  for (const effect of effects as readonly (Effect & { at: number })[]) {
    if (!effect.accepted) continue;
    const before = last.get(effect.key);
    if (before && before.lease !== effect.lease) over.add(before.lease);
    last.set(effect.key, effect);
    const smaller = before && BigInt(effect.fence) < BigInt(before.fence);
    if (!smaller && !over.has(effect.lease)) continue;
    const what = `an effect under fence ${effect.fence} (${effect.lease}) was accepted after one under ${before?.fence} (${before?.lease})`;
    violations.push({ rule: "witness", at: effect.at, what });
  }
  return violations;
}

/** Names the acquisition, which callers of one process may share. */
function holderOf({ lease }: Tenancy): string {
  return lease.slice(0, lease.lastIndexOf("/"));
}

function name({ key, fence, lease, worker }: Tenancy): string {
  return `lease ${lease} (${key}, fence ${fence}, ${worker})`;
}

function ms(duration: number): string {
  return `${duration.toFixed(1)} ms`;
}
