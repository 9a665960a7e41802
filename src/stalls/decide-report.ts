import type { Stall } from "../resources/index.ts";

/** Failures for a shorter time are retries that work; reporting them would cost a write each. */
const reportAfterMs = 5_000;

/** From then on people are notified. */
export const notifyAfterMs = 120_000;

export interface ReportSnapshot {
  readonly nowMs: number;
  readonly stall: Omit<Stall, "error">;
  /** The stall as it was reported last. */
  readonly reported: Omit<Stall, "error"> | undefined;
  /** Whether people were notified of stalls for this reason, and some of them last since. */
  readonly notified: boolean;
}

export interface ReportDecision {
  readonly writeCondition: boolean;
  readonly recordEvent: boolean;
  readonly notify: boolean;
}

/**
 * What to report of a stall. The condition is written when the reason changes, and when the attempt that it announced is
 * over: never for each retry, because changes of the object cause retries, too, and messages may differ each time.
 */
export function decideReport({ nowMs, stall, reported, notified }: ReportSnapshot): ReportDecision {
  const lastedMs = nowMs - stall.sinceMs;
  if (lastedMs < reportAfterMs) return { writeCondition: false, recordEvent: false, notify: false };
  const isNew = reported?.reason !== stall.reason;
  const isOutdated = reported?.nextAttemptMs !== undefined && nowMs >= reported.nextAttemptMs;
  return {
    writeCondition: isNew || isOutdated,
    recordEvent: isNew,
    notify: lastedMs >= notifyAfterMs && !notified,
  };
}
