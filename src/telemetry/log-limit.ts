import type { Clock } from "../time/index.ts";
import type { Logger } from "./logger.ts";

/** Returns how many events were left out since the last one that was logged, or undefined if this one is left out, too. */
type LogLimit = (key: string) => number | undefined;

/**
 * Limits events that repeat: in each interval every key is logged once, and a hundred keys altogether.
 * A hundred callers on one key, or ten thousand leases whose renewals fail, would otherwise bury the lines that matter.
 */
export function limitLog(clock: Clock, intervalMs: number): LogLimit {
  const logged = new Set<string>();
  let intervalEndsAt = Number.NEGATIVE_INFINITY;
  let leftOut = 0;

  return (key) => {
    const now = clock.now();
    if (now >= intervalEndsAt) {
      logged.clear();
      intervalEndsAt = now + intervalMs;
    }
    if (logged.has(key) || logged.size >= maxKeys) {
      leftOut++;
      return undefined;
    }
    logged.add(key);
    const unreported = leftOut;
    leftOut = 0;
    return unreported;
  };
}

const maxKeys = 100;

/** Logs a warning, unless one of the same event and `key` was logged within the last minute. */
export type WarnLimited = (event: string, fields: object, key: unknown) => void;

/** Warnings of problems that last: an outage fails every signal and every incident, with the same error. */
export function limitedWarnings({ log, clock }: { readonly log: Logger; readonly clock: Clock }): WarnLimited {
  const limit = limitLog(clock, 60_000);
  return (event, fields, key) => {
    const unreported = limit(`${event} ${key}`);
    if (unreported !== undefined) log.warn(event, { ...fields, unreported });
  };
}
