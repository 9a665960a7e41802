import type { Logger, Metrics } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";

/** The prefix of a stage's metrics. */
export type Stage = "gateway" | "ro" | "executor" | "notify" | "agent";

/** The dependencies for observing the coordination of one stage. */
export interface Observer {
  readonly stage: Stage;
  /** Each function here declares its metrics, so each is called once for a stage. */
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** The series of each name, looked up once, so that counting needs no label look-up. */
export function seriesByName<Name extends string, Series>(names: readonly Name[], find: (name: Name) => Series) {
  return Object.fromEntries(names.map((name) => [name, find(name)])) as Readonly<Record<Name, Series>>;
}

const quietMs = 10_000;
const maxLines = 100;

/**
 * Returns how many lines about `key` were left out since the last one, or undefined if none may be written now.
 * A hundred callers on one key, or ten thousand leases whose renewals fail ten times a second, would otherwise bury
 * the lines that matter. So in 10 s each key is written once, and a hundred keys altogether; metrics count them all.
 */
export function lineLimiter(clock: Clock): (key: string) => number | undefined {
  const written = new Set<string>();
  let quietUntil = Number.NEGATIVE_INFINITY;
  let leftOut = 0;

  return (key) => {
    const now = clock.now();
    if (now >= quietUntil) {
      written.clear();
      quietUntil = now + quietMs;
    }
    if (written.has(key) || written.size >= maxLines) {
      leftOut++;
      return undefined;
    }
    written.add(key);
    const unreported = leftOut;
    leftOut = 0;
    return unreported;
  };
}
