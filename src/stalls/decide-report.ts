import type { Stall } from "../resources/index.ts";

/** A stall that is shorter is not reported: most retries succeed, and each report is a write. */
const reportAfterMs = 5_000;

/** Operators are notified of a stall that lasts this long. */
export const notifyAfterMs = 120_000;

export interface ReportSnapshot {
  readonly nowMs: number;
  readonly stall: Omit<Stall, "error">;
  /** The last reported stall. */
  readonly reported: Omit<Stall, "error"> | undefined;
  /** Whether operators were notified of stalls for this reason, of which some still last. */
  readonly notified: boolean;
}

export interface ReportDecision {
  readonly writeCondition: boolean;
  readonly recordEvent: boolean;
  readonly notify: boolean;
}

/**
 * Decides how to report a stall. The condition is written when the reason changes, and when the time of the next attempt in it has
 * passed. It is not written for each retry: a change of the object causes a retry, too, and each message may differ.
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
