import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";
import type { Claim, ClaimEvents, Effect } from "./claims.ts";
import { lag } from "./cursor.ts";
import { CoordinationError, type CoordinationErrorCode } from "./errors.ts";
import type { JanitorEvents } from "./janitor-events.ts";
import type { LockEvents, Locks } from "./locks.ts";
import type { AdvanceOutcome, Watermark } from "./watermarks.ts";

/** The prefix of a stage's metrics. */
export type Stage = "gateway" | "ro" | "executor" | "notify" | "agent";

/** What the coordination of one stage is watched with. */
export interface Observer {
  readonly stage: Stage;
  /** Each function here declares its metrics, so each is called once for a stage. */
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Counts and logs what happens to the locks of a stage: `redisLocks({ …, events: observeLocks(observer) })`. */
export function observeLocks({ stage, metrics, log, clock }: Observer): LockEvents {
  const count = lockMetrics(stage, metrics);
  const contendedLines = fewLines(clock);
  const renewalLines = fewLines(clock);

  return {
    attempted() {
      count.attempts.inc();
    },
    acquired({ key, holder, fence }, waitedMs) {
      count.successes.inc();
      count.duration.observe(waitedMs / 1_000);
      if (waitedMs < noticeableWaitMs) log.debug("lock acquired", { key, holder, fence, waitedMs });
      else log.info("lock acquired", { key, holder, fence, waitedMs });
    },
    contended(key, holder) {
      count.contentions.inc();
      const unreported = contendedLines(key);
      if (unreported === undefined) return;
      const { id, who, purpose, sinceMs } = holder ?? {};
      const since = sinceMs === undefined ? undefined : new Date(sinceMs);
      log.info("lock contended", { key, holder: id, who, purpose, since, unreported });
    },
    // Not logged: the caller has the error, and the loop that owns its retries logs it, once.
    failed(_key, reason) {
      count.failures[lockFailureOf[reason]].inc();
    },
    renewalFailed({ key, holder, fence }, cause) {
      count.renewalFailures.inc();
      const unreported = renewalLines(key);
      if (unreported !== undefined) log.warn("lock_renewal_failed", { key, holder, fence, cause, unreported });
    },
    lost({ key, holder, fence }, cause) {
      count.losses.inc();
      log.warn("lease lost", { key, holder, fence, cause });
    },
    released({ key, holder, fence }, told, heldMs) {
      const outcome = told.released ? "released" : told.reason;
      count.releases[outcome].inc();
      count.held.observe(heldMs / 1_000);
      if (told.released) log.debug("lock released", { key, holder, fence, outcome, heldMs });
      else log.warn("lock released", { key, holder, fence, outcome, heldMs });
    },
  };
}

/** Shows how many locks a stage holds and waits for, looked up whenever the metrics are read. */
export function observeLockLoad(locks: Pick<Locks, "load">, { stage, metrics }: Pick<Observer, "stage" | "metrics">) {
  metrics.gauge({
    name: `${stage}_locks_held`,
    help: "Locks that this process holds now.",
    collect: (gauge) => gauge.set(locks.load().held),
  });
  metrics.gauge({
    name: `${stage}_locks_waiting`,
    help: "Callers in this process that wait for a lock now.",
    collect: (gauge) => gauge.set(locks.load().waiting),
  });
  metrics.gauge({
    name: `${stage}_lock_oldest_wait_seconds`,
    help: "How long the caller that waits the longest has waited, 0 if none does.",
    collect: (gauge) => gauge.set(locks.load().oldestWaitMs / 1_000),
  });
}

/** Counts and logs what happens to the claims of a stage: `redisClaims({ …, events: observeClaims(observer) })`. */
export function observeClaims({ stage, metrics, log, clock }: Observer): ClaimEvents {
  const count = claimMetrics(stage, metrics);
  const renewalLines = fewLines(clock);
  const refusalLines = fewLines(clock);
  const evictionLines = fewLines(clock);
  let evictedSinceLine = 0;

  return {
    answered(key, state, effect) {
      count.claims[claimOutcomeOf[state]].inc();
      if (state === "new") count.work[effect ? effectOf[effect] : "unstated"].inc();
      log.debug("claim answered", { key, state, effect });
    },
    // Logged although the caller has the error: `once` throws the error of the work in place of this one.
    refused(key, reason) {
      count.refusals[refusalOf[reason]].inc();
      const unreported = refusalLines(`${key}|${reason}`);
      if (unreported !== undefined) log.warn("claim refused", { key, reason, unreported });
    },
    renewalFailed({ key, holder, fence }, cause) {
      count.renewalFailures.inc();
      const unreported = renewalLines(key);
      if (unreported !== undefined) log.warn("claim_renewal_failed", { key, holder, fence, cause, unreported });
    },
    lost({ key, holder, fence }, cause) {
      count.losses.inc();
      log.warn("claim lost", { key, holder, fence, cause });
    },
    settled({ key, holder, fence }, how, outcome) {
      count.settlements[how][outcome].inc();
      if (outcome === "settled") log.debug("claim settled", { key, holder, fence, how, outcome });
      // Done too late is told by `lateComplete`, which follows.
      else if (how !== "done" || outcome !== "lost") log.warn("claim settled", { key, holder, fence, how, outcome });
    },
    lateComplete({ key, holder, fence }) {
      count.lateCompletes.inc();
      log.warn("claim completed late", { key, holder, fence });
    },
    evicted({ count: forgotten, maxEntries, ageMs }) {
      count.evictions.inc(forgotten);
      evictedSinceLine += forgotten;
      if (evictionLines("") === undefined) return;
      log.warn("dedup_store_eviction", { count: evictedSinceLine, maxEntries, ageMs });
      evictedSinceLine = 0;
    },
  };
}

/** Counts and logs what the janitor of a stage removes: `startJanitor({ …, events: observeJanitor(observer) })`. */
export function observeJanitor({ stage, metrics, log }: Pick<Observer, "stage" | "metrics" | "log">): JanitorEvents {
  const removals = metrics.counter({
    name: `${stage}_leases_removed_total`,
    help: "Leases that nobody needed any more: of locks without holder or waiter, and of claims no longer remembered.",
    labels: { kind: ["lock", "claim"] },
  });
  const failures = metrics.counter({
    name: `${stage}_lease_sweep_failures_total`,
    help: "Times the removal of idle Leases failed. It is tried again a few minutes later.",
  });
  return {
    swept({ locks, claims }) {
      removals.with({ kind: "lock" }).inc(locks);
      removals.with({ kind: "claim" }).inc(claims);
      if (locks + claims > 0) log.info("idle leases removed", { locks, claims });
    },
    failed(error) {
      failures.inc();
      log.warn("idle leases not removed", { error });
    },
  };
}

/** A watermark that is watched until it is disposed of: from then on this process polls the stream no more. */
export interface ObservedWatermark extends Watermark, Disposable {}

/**
 * Counts and logs how the watermarks of a stage move, and shows the largest lag among the streams it polls:
 * `using mark = observe(await openWatermark(store, key, { serverDate, … }), serverDate)`.
 */
export function observeWatermarks({ stage, metrics, log, clock }: Observer) {
  const polled = new Set<{ lagMs: number; at: number }>();
  const writes = watermarkMetrics(stage, metrics, () => {
    // Measured by the source's clock at the last poll, and growing since: a poller that hangs must not look punctual.
    let largestMs = 0;
    for (const { lagMs, at } of polled) largestMs = Math.max(largestMs, lagMs + clock.now() - at);
    return largestMs;
  });

  return (watermark: Watermark, serverDate: Date): ObservedWatermark => {
    const stream = { lagMs: lag(watermark.record, serverDate), at: clock.now() };
    polled.add(stream);

    function note(outcome: AdvanceOutcome, lagMs: number) {
      const { key } = watermark;
      Object.assign(stream, { lagMs, at: clock.now() });
      switch (outcome.kind) {
        case "advanced":
          writes.written.inc();
          return log.debug("watermark advanced", { key, cursor: outcome.cursor, heldBy: outcome.heldBy, lagMs });
        case "unchanged":
          if (outcome.heldBy === undefined) return;
          return log.info("watermark held", { key, cursor: outcome.cursor, heldBy: outcome.heldBy, lagMs });
        case "stale":
          // Another process polls it by now, and shows its lag.
          polled.delete(stream);
          writes.stale.inc();
          return log.warn("watermark stale", { key, fence: outcome.fence });
      }
    }

    return {
      key: watermark.key,
      get record() {
        return watermark.record;
      },
      queryFrom: () => watermark.queryFrom(),
      async advance(items, serverDate, options) {
        try {
          const outcome = await watermark.advance(items, serverDate, options);
          note(outcome, lag(watermark.record, serverDate));
          return outcome;
        } catch (error) {
          if (error instanceof CoordinationError) writes.failed.inc();
          throw error;
        }
      },
      [Symbol.dispose]: () => void polled.delete(stream),
    };
  };
}

/** Who waited this long noticed it, and so may a person who reads the log. */
const noticeableWaitMs = 1_000;

/** Bounds from 0.1 ms, in memory, to the default wait of 30 s; one at ADR-052's 20 ms, so that its share is exact. */
const waitBuckets = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Bounds from a single guarded write to a task of an hour; one at the default ttl of 30 s. */
const holdBuckets = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 1_800, 3_600];

const lockFailures = ["contention", "timeout", "api_error", "lost", "aborted"] as const;
const releaseOutcomes = ["released", "lost", "unknown"] as const;

/**
 * ADR-052's reasons. Only what the backend did or refused is an `api_error`: a lost race, patience that ran out and a
 * shutdown say nothing about its health. Closing the locks ends a wait just as the caller's own signal does.
 */
const lockFailureOf: Readonly<Record<"contention" | CoordinationErrorCode, (typeof lockFailures)[number]>> = {
  contention: "contention",
  timeout: "timeout",
  lost: "lost",
  aborted: "aborted",
  closed: "aborted",
  unavailable: "api_error",
  forbidden: "api_error",
  collision: "api_error",
  full: "api_error",
  mismatch: "api_error",
};

function lockMetrics(stage: Stage, metrics: Metrics) {
  const failures = metrics.counter({
    name: `${stage}_lock_acquisition_failures_total`,
    help: "Times a lock was asked for and not granted. Only api_error is a fault of the backend.",
    labels: { reason: lockFailures },
  });
  const releases = metrics.counter({
    name: `${stage}_lock_releases_total`,
    help: "Releases of a lock that was still ours, that was lost before, or without an answer of the backend.",
    labels: { outcome: releaseOutcomes },
  });
  return {
    failures: each(lockFailures, (reason) => failures.with({ reason })),
    releases: each(releaseOutcomes, (outcome) => releases.with({ outcome })),
    attempts: metrics.counter({
      name: `${stage}_lock_acquisition_attempts_total`,
      help: "Times a lock was asked for.",
    }),
    successes: metrics.counter({
      name: `${stage}_lock_acquisition_successes_total`,
      help: "Times a lock was granted.",
    }),
    contentions: metrics.counter({
      name: `${stage}_lock_contentions_total`,
      help: "Times somebody who asked for a lock met another holder, and waited or went without.",
    }),
    losses: metrics.counter({
      name: `${stage}_locks_lost_total`,
      help: "Granted locks that ended before their holder released them.",
    }),
    renewalFailures: metrics.counter({
      name: `${stage}_lock_renewal_failures_total`,
      help: "Renewals without an answer. Each is tried again while the lock lasts.",
    }),
    duration: metrics.histogram({
      name: `${stage}_lock_acquisition_duration_seconds`,
      help: "From asking for a lock to its grant, waiting included. Only locks that were granted.",
      buckets: waitBuckets,
    }),
    held: metrics.histogram({
      name: `${stage}_lock_hold_duration_seconds`,
      help: "From the grant of a lock until its holder released it, also if it was lost meanwhile.",
      buckets: holdBuckets,
    }),
  };
}

const claimOutcomes = ["new", "in_flight", "done", "failed"] as const;
const effects = ["transactional", "fenced", "idempotent", "at_least_once", "unstated"] as const;
const refusalReasons = ["unavailable", "forbidden", "mismatch", "collision", "full", "closed", "other"] as const;
const endings = ["done", "failed", "retry"] as const;
const settlementOutcomes = ["settled", "lost", "unknown"] as const;

const claimOutcomeOf: Readonly<Record<Claim["state"], (typeof claimOutcomes)[number]>> = {
  new: "new",
  "in-flight": "in_flight",
  done: "done",
  failed: "failed",
};

const effectOf: Readonly<Record<Effect, (typeof effects)[number]>> = {
  transactional: "transactional",
  fenced: "fenced",
  idempotent: "idempotent",
  "at-least-once": "at_least_once",
};

/** A claim neither waits nor is aborted, so these codes are not expected. */
const refusalOf: Readonly<Record<CoordinationErrorCode, (typeof refusalReasons)[number]>> = {
  unavailable: "unavailable",
  forbidden: "forbidden",
  mismatch: "mismatch",
  collision: "collision",
  full: "full",
  closed: "closed",
  lost: "other",
  timeout: "other",
  aborted: "other",
};

function claimMetrics(stage: Stage, metrics: Metrics) {
  const claims = metrics.counter({
    name: `${stage}_claims_total`,
    help: "Answers to claims: new is work to do, in_flight and done are duplicates, failed is not tried again.",
    labels: { outcome: claimOutcomes },
  });
  const work = metrics.counter({
    name: `${stage}_claim_work_total`,
    help: "New claims by what keeps a second run of their work harmless. For at_least_once nothing does.",
    labels: { effect: effects },
  });
  const refusals = metrics.counter({
    name: `${stage}_claim_refusals_total`,
    help: "Claims, and ends of claimed work, that the store refused or did not answer.",
    labels: { reason: refusalReasons },
  });
  const settlements = metrics.counter({
    name: `${stage}_claim_settlements_total`,
    help: "Ends of claimed work: done, failed for good or to be retried; and whether the claim was still ours to end.",
    labels: { how: endings, outcome: settlementOutcomes },
  });
  return {
    claims: each(claimOutcomes, (outcome) => claims.with({ outcome })),
    work: each(effects, (effect) => work.with({ effect })),
    refusals: each(refusalReasons, (reason) => refusals.with({ reason })),
    settlements: each(endings, (how) => each(settlementOutcomes, (outcome) => settlements.with({ how, outcome }))),
    lateCompletes: metrics.counter({
      name: `${stage}_claim_late_completes_total`,
      help: "Work finished after its claim was lost: its effect may have happened twice.",
    }),
    losses: metrics.counter({
      name: `${stage}_claims_lost_total`,
      help: "Claims that ended before their work did.",
    }),
    renewalFailures: metrics.counter({
      name: `${stage}_claim_renewal_failures_total`,
      help: "Renewals without an answer. Each is tried again while the claim lasts.",
    }),
    evictions: metrics.counter({
      name: `${stage}_dedup_evictions_total`,
      help: "Finished work that the full memory store forgot before its time: it may be done again.",
    }),
  };
}

const writeOutcomes = ["written", "stale", "failed"] as const;

function watermarkMetrics(stage: Stage, metrics: Metrics, largestLagMs: () => number) {
  metrics.gauge({
    name: `${stage}_watermark_lag_seconds`,
    help: "How far the most backward of the streams polled here is behind its source, 0 if none is polled.",
    collect: (gauge) => gauge.set(largestLagMs() / 1_000),
  });
  const writes = metrics.counter({
    name: `${stage}_watermark_writes_total`,
    help: "Moves of a watermark: written, refused as stale because another process polls by now, or failed.",
    labels: { outcome: writeOutcomes },
  });
  return each(writeOutcomes, (outcome) => writes.with({ outcome }));
}

/** The series of each name, found once: counting then costs no look-up of labels. */
function each<Name extends string, Series>(names: readonly Name[], find: (name: Name) => Series) {
  return Object.fromEntries(names.map((name) => [name, find(name)])) as Readonly<Record<Name, Series>>;
}

const quietMs = 10_000;
const mostLines = 100;

/**
 * Says whether to write a line about `key`: how many were left out since the last line, or undefined for "not now".
 * A hundred callers on one key, or ten thousand leases whose renewals fail ten times a second, would otherwise bury
 * the lines that matter. So in 10 s each key is written once, and a hundred keys altogether; metrics count them all.
 */
function fewLines(clock: Clock): (key: string) => number | undefined {
  const written = new Set<string>();
  let quietUntil = Number.NEGATIVE_INFINITY;
  let leftOut = 0;

  return (key) => {
    const now = clock.now();
    if (now >= quietUntil) {
      written.clear();
      quietUntil = now + quietMs;
    }
    if (written.has(key) || written.size >= mostLines) {
      leftOut++;
      return undefined;
    }
    written.add(key);
    const unreported = leftOut;
    leftOut = 0;
    return unreported;
  };
}
