/**
 * - `forbidden`, `invalid`: the server refuses to list or watch; asked again slowly
 * - `unavailable`: it does not answer as it should; asked again with backoff
 * - `silent`: a watch brought nothing for too long and was opened anew
 * - `handler-failed`, `index-failed`: a function given to an informer threw; everything else goes on
 * - `reconcile-failed`: tried again with backoff
 * - `reconcile-stuck`: still running after a long time; its key waits, the others go on
 */
export type ProblemKind =
  | "forbidden"
  | "invalid"
  | "unavailable"
  | "silent"
  | "handler-failed"
  | "index-failed"
  | "reconcile-failed"
  | "reconcile-stuck";

/** Something the runtime copes with by itself, but that a human may want to know. Only `kind` is fit for a label. */
export interface Problem {
  readonly kind: ProblemKind;
  /** The plural of the kind an informer follows, or the name of a controller. */
  readonly about: string;
  readonly message: string;
  /** The key being reconciled. */
  readonly key?: string;
  readonly error?: unknown;
}

/** Told of each problem. Must not throw. */
export type ReportProblem = (problem: Problem) => void;

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
