import { type Logger, limitLog } from "../telemetry/index.ts";
import type { Clock } from "../time/index.ts";

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
