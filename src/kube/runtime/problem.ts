import { type Logger, limitedWarnings } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";

/**
 * - `forbidden`, `invalid`: the server refuses to list or watch; retried slowly
 * - `unavailable`: the server does not respond as expected; retried with backoff
 * - `handler-failed`, `index-failed`: a function of the caller threw; the informer continues
 * - `reconcile-failed`: retried with backoff
 * - `reconcile-stuck`: still running after a long time; its key waits, the others continue
 */
export type ProblemKind =
  | "forbidden"
  | "invalid"
  | "unavailable"
  | "handler-failed"
  | "index-failed"
  | "reconcile-failed"
  | "reconcile-stuck";

/** A problem that the runtime handles, but that may concern an operator. Only `kind` is fit for a label. */
export interface Problem {
  readonly kind: ProblemKind;
  /** The plural of the informer's kind, or the name of a controller. */
  readonly about: string;
  readonly message: string;
  /** The key being reconciled. */
  readonly key?: string;
  readonly error?: unknown;
}

/** Called for each problem. Must not throw. */
export type ReportProblem = (problem: Problem) => void;

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Logs problems as warnings named `event`. A problem that lasts is logged once a minute, however many keys it concerns: during an
 * outage, every object reports the same one.
 */
export function problemLogger(event: string, options: { readonly log: Logger; readonly clock: Clock }): ReportProblem {
  const warn = limitedWarnings(options);
  return (problem) => warn(event, problem, `${problem.kind} ${problem.about} ${problem.message}`);
}
