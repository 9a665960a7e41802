import { limitLog, type Metrics } from "../../telemetry/index.ts";
import type { CoordinationErrorCode } from "../errors.ts";
import type { LockEvents, Locks } from "../locks/locks.ts";
import { type Observer, repeatMs, type Stage } from "./observer.ts";

/** Counts and logs the events of the locks of a stage: `redisLocks({ …, events: observeLocks(observer) })`. */
export function observeLocks({ stage, metrics, log, clock }: Observer): LockEvents {
  const count = lockMetrics(stage, metrics);
  const contendedLines = limitLog(clock, repeatMs);
  const renewalLines = limitLog(clock, repeatMs);

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
      count.failures.with({ reason: failureLabel[reason] }).inc();
    },
    renewalFailed({ key, holder, fence }, cause) {
      count.renewalFailures.inc();
      const unreported = renewalLines(key);
      if (unreported !== undefined) log.warn("lock renewal failed", { key, holder, fence, cause, unreported });
    },
    lost({ key, holder, fence }, cause) {
      count.losses.inc();
      log.warn("lease lost", { key, holder, fence, cause });
    },
    released({ key, holder, fence }, result, heldMs) {
      const outcome = result.released ? "released" : result.reason;
      count.releases.with({ outcome }).inc();
      count.held.observe(heldMs / 1_000);
      if (result.released) log.debug("lock released", { key, holder, fence, outcome, heldMs });
      else log.warn("lock released", { key, holder, fence, outcome, heldMs });
    },
  };
}

/** Waits from this length on are logged: a caller notices them. */
const noticeableWaitMs = 1_000;

/** Bounds from 0.1 ms, in memory, to the default wait of 30 s; one at the objective of 20 ms, so that its share is exact. */
const waitBuckets = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Bounds from a single guarded write to a task of an hour; one at the default ttl of 30 s. */
const holdBuckets = [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 1_800, 3_600];

/**
 * The failure reasons. Only failures of the backend are an `api_error`: a lost race, a timeout and a shutdown do not
 * concern its health. Closing the locks ends a wait just as the caller's own signal does.
 */
const failureLabel = {
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
} as const satisfies Record<"contention" | CoordinationErrorCode, string>;

function lockMetrics(stage: Stage, metrics: Metrics) {
  return {
    failures: metrics.counter(
      `${stage}_lock_acquisition_failures_total`,
      "Attempts to acquire a lock that failed. Only api_error is a fault of the backend.",
      { reason: ["contention", "timeout", "api_error", "lost", "aborted"] },
    ),
    releases: metrics.counter(
      `${stage}_lock_releases_total`,
      "Releases of a lock: it was still held, it was lost before, or the backend did not respond.",
      { outcome: ["released", "lost", "unknown"] },
    ),
    attempts: metrics.counter(`${stage}_lock_acquisition_attempts_total`, "Attempts to acquire a lock."),
    successes: metrics.counter(`${stage}_lock_acquisition_successes_total`, "Locks acquired."),
    contentions: metrics.counter(
      `${stage}_lock_contentions_total`,
      "Attempts to acquire a lock that found another holder, and waited or gave up.",
    ),
    losses: metrics.counter(`${stage}_locks_lost_total`, "Granted locks that ended before their holder released them."),
    renewalFailures: metrics.counter(
      `${stage}_lock_renewal_failures_total`,
      "Renewals without a response. Each is retried while the lock lasts.",
    ),
    duration: metrics.histogram(
      `${stage}_lock_acquisition_duration_seconds`,
      "Time from the request of a lock to its grant, waiting included. Only locks that were granted.",
      waitBuckets,
    ),
    held: metrics.histogram(
      `${stage}_lock_hold_duration_seconds`,
      "Time from the grant of a lock until its holder released it, also if it was lost meanwhile.",
      holdBuckets,
    ),
  };
}

/** Shows how many locks a stage holds and waits for, at the time of the scrape. */
export function observeLockLoad(locks: Pick<Locks, "load">, { stage, metrics }: Pick<Observer, "stage" | "metrics">) {
  metrics.gauge(`${stage}_locks_held`, "Locks that this process holds now.", () => locks.load().held);
  metrics.gauge(
    `${stage}_locks_waiting`,
    "Callers in this process that wait for a lock now, candidates for the lead left out.",
    () => locks.load().waiting,
  );
  metrics.gauge(
    `${stage}_lock_oldest_wait_seconds`,
    "How long the caller that waits the longest has waited, 0 if none does.",
    () => locks.load().oldestWaitMs / 1_000,
  );
}
