import { type Logger, limitLog } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ReportProblem } from "./problem.ts";

/**
 * Logs problems as warnings named `event`. A problem that lasts is logged once a minute, however many keys it concerns: during an
 * outage, every object reports the same one.
 */
export function problemLogger(event: string, { log, clock }: ProblemLoggerOptions): ReportProblem {
  const limit = limitLog(clock, 60_000);
  return (problem) => {
    const { kind, about, message } = problem;
    const unreported = limit(`${kind} ${about} ${message}`);
    if (unreported !== undefined) log.warn(event, { ...problem, unreported });
  };
}

interface ProblemLoggerOptions {
  readonly log: Logger;
  readonly clock: Clock;
}
