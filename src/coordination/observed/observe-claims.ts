import { limitLog, type Metrics } from "../../telemetry/index.ts";
import type { Claim, ClaimEvents, Effect } from "../claims/claims.ts";
import type { CoordinationErrorCode } from "../errors.ts";
import { type Observer, repeatMs, type Stage, seriesByName } from "./observer.ts";

/** Counts and logs the events of the claims of a stage: `redisClaims({ …, events: observeClaims(observer) })`. */
export function observeClaims({ stage, metrics, log, clock }: Observer): ClaimEvents {
  const count = claimMetrics(stage, metrics);
  const renewalLines = limitLog(clock, repeatMs);
  const refusalLines = limitLog(clock, repeatMs);
  const evictionLines = limitLog(clock, repeatMs);
  let evictedSinceLine = 0;

  return {
    answered(key, state, effect) {
      count.claims[claimOutcomeOf[state]].inc();
      if (state === "new") count.work[effect ? effectOf[effect] : "unstated"].inc();
      log.debug("claim evaluated", { key, state, effect });
    },
    // Logged although the caller has the error: `once` throws the error of the work in place of this one.
    refused(key, reason) {
      count.refusals[refusalOf[reason]].inc();
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
      count.settlements[how][outcome].inc();
      if (outcome === "settled") log.debug("claim settled", { key, holder, fence, how, outcome });
      // A late completion is logged by `lateComplete`, which follows.
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
      log.warn("claims evicted", { count: evictedSinceLine, maxEntries, ageMs });
      evictedSinceLine = 0;
    },
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
  const claims = metrics.counter(
    `${stage}_claims_total`,
    "Results of claims: new is work to do, in_flight and done are duplicates, failed is not retried.",
    { outcome: claimOutcomes },
  );
  const work = metrics.counter(
    `${stage}_claim_work_total`,
    "New claims by what makes a second run of their work harmless; for at_least_once nothing does.",
    { effect: effects },
  );
  const refusals = metrics.counter(
    `${stage}_claim_refusals_total`,
    "Claims and settlements that the store rejected or did not answer.",
    { reason: refusalReasons },
  );
  const settlements = metrics.counter(
    `${stage}_claim_settlements_total`,
    "Settlements of claims: done, failed for good or to be retried; and whether the claim was still held.",
    { how: endings, outcome: settlementOutcomes },
  );
  return {
    claims: seriesByName(claimOutcomes, (outcome) => claims.with({ outcome })),
    work: seriesByName(effects, (effect) => work.with({ effect })),
    refusals: seriesByName(refusalReasons, (reason) => refusals.with({ reason })),
    settlements: seriesByName(endings, (how) =>
      seriesByName(settlementOutcomes, (outcome) => settlements.with({ how, outcome })),
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
