import { limitLog, type Metrics } from "../../telemetry/index.ts";
import type { Claim, ClaimEvents, Effect } from "../claims/claims.ts";
import type { CoordinationErrorCode } from "../errors.ts";
import { type Observer, repeatMs, type Stage } from "./observer.ts";

/** Counts and logs the events of the claims of a stage: `redisClaims({ …, events: observeClaims(observer) })`. */
export function observeClaims({ stage, metrics, log, clock }: Observer): ClaimEvents {
  const count = claimMetrics(stage, metrics);
  const renewalLines = limitLog(clock, repeatMs);
  const refusalLines = limitLog(clock, repeatMs);
  const evictionLines = limitLog(clock, repeatMs);
  let evictedSinceLine = 0;

  return {
    answered(key, state, effect) {
      count.claims.with({ outcome: outcomeLabel[state] }).inc();
      if (state === "new") count.work.with({ effect: effect ? effectLabel[effect] : "unstated" }).inc();
      log.debug("claim evaluated", { key, state, effect });
    },
    // Logged although the caller has the error: `once` throws the error of the work in place of this one.
    refused(key, reason) {
      count.refusals.with({ reason: refusalLabel[reason] }).inc();
      const unreported = refusalLines(`${key}|${reason}`);
      if (unreported !== undefined) log.warn("claim failed", { key, reason, unreported });
    },
    renewalFailed({ key, holder, fence }, cause) {
      count.renewalFailures.inc();
      const unreported = renewalLines(key);
      if (unreported !== undefined) log.warn("claim renewal failed", { key, holder, fence, cause, unreported });
    },
    lost({ key, holder, fence }, cause) {
      count.losses.inc();
      log.warn("claim lost", { key, holder, fence, cause });
    },
    settled({ key, holder, fence }, how, outcome) {
      count.settlements.with({ how, outcome }).inc();
      if (outcome === "settled") return log.debug("claim settled", { key, holder, fence, how, outcome });
      if (how !== "done" || outcome !== "lost") return log.warn("claim settled", { key, holder, fence, how, outcome });
      count.lateCompletes.inc();
      log.warn("claim completed late", { key, holder, fence });
    },
    evicted({ count: forgotten, maxEntries, ageMs }) {
      count.evictions.inc(forgotten);
      evictedSinceLine += forgotten;
      if (evictionLines("") === undefined) return;
      log.warn("claims evicted", { count: evictedSinceLine, maxEntries, ageMs });
      evictedSinceLine = 0;
    },
  };
}

const outcomeLabel = {
  new: "new",
  "in-flight": "in_flight",
  done: "done",
  failed: "failed",
} as const satisfies Record<Claim["state"], string>;

const effectLabel = {
  transactional: "transactional",
  fenced: "fenced",
  idempotent: "idempotent",
  "at-least-once": "at_least_once",
} as const satisfies Record<Effect, string>;

/** A claim neither waits nor is aborted, so the last three codes are not expected. */
const refusalLabel = {
  unavailable: "unavailable",
  forbidden: "forbidden",
  mismatch: "mismatch",
  collision: "collision",
  full: "full",
  closed: "closed",
  lost: "other",
  timeout: "other",
  aborted: "other",
} as const satisfies Record<CoordinationErrorCode, string>;

function claimMetrics(stage: Stage, metrics: Metrics) {
  return {
    claims: metrics.counter(
      `${stage}_claims_total`,
      "Results of claims: new is work to do, in_flight and done are duplicates, failed is not retried.",
      { outcome: Object.values(outcomeLabel) },
    ),
    work: metrics.counter(
      `${stage}_claim_work_total`,
      "New claims by what makes a second run of their work harmless; for at_least_once nothing does.",
      { effect: [...Object.values(effectLabel), "unstated"] },
    ),
    refusals: metrics.counter(
      `${stage}_claim_refusals_total`,
      "Claims and settlements that the store rejected or did not answer.",
      { reason: ["unavailable", "forbidden", "mismatch", "collision", "full", "closed", "other"] },
    ),
    settlements: metrics.counter(
      `${stage}_claim_settlements_total`,
      "Settlements of claims: done, failed for good or to be retried; and whether the claim was still held.",
      { how: ["done", "failed", "retry"], outcome: ["settled", "lost", "unknown"] },
    ),
    lateCompletes: metrics.counter(
      `${stage}_claim_late_completes_total`,
      "Work finished after its claim was lost: its effect may have happened twice.",
    ),
    losses: metrics.counter(`${stage}_claims_lost_total`, "Claims that ended before their work did."),
    renewalFailures: metrics.counter(
      `${stage}_claim_renewal_failures_total`,
      "Renewals without a response. Each is retried while the claim lasts.",
    ),
    evictions: metrics.counter(
      `${stage}_dedup_evictions_total`,
      "Completed claims that the full memory store evicted early; their work may be repeated.",
    ),
  };
}
