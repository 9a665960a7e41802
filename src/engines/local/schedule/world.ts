import type { ParamValue, PipelineSpec } from "../pipeline/spec.ts";

/** Everything that decides what happens next in a run. Times are milliseconds since 1970. */
export interface RunWorld {
  readonly run: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly pipeline: PipelineSpec;
  readonly params: Readonly<Record<string, ParamValue>>;
  /** The request to cancel or stop in `spec.status`. */
  readonly asked?: "Cancelled" | "CancelledRunFinally" | "StoppedRunFinally" | undefined;
  readonly startedAt: number;
  /** 0 is no limit. */
  readonly timeouts: { readonly pipelineMs: number; readonly tasksMs?: number; readonly finallyMs?: number };
  /** The attempts at each task that has begun, by its name. */
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
  readonly now: number;
}

/** One try of a task. */
export interface Attempt {
  readonly startedAt: number;
  /** Written down before anything was done about it. */
  readonly stop?: Stop;
  /** Those that have begun, in order. All but the last have ended. */
  readonly steps: readonly StepRecord[];
  /** What the task wrote, once all its steps have ended. */
  readonly results: Readonly<Record<string, string>>;
}

export interface Stop {
  readonly why: StopReason;
  readonly at: number;
}

/** `timeout`: the task's own. The others come from the run. */
export type StopReason = "cancelled" | "run-timeout" | "timeout";

export interface StepRecord {
  /** Absent: it is running, or about to. */
  readonly end?: StepEnd;
  /** When it began, as far as is known. */
  readonly startedAt?: number;
  readonly pid?: number;
}

/**
 * - `exited`: by itself or by a signal that it did not survive, with a code
 * - `killed`: by us, without a code
 * - `lost`: something else killed it together with its wrapper, or the machine failed; it is unknown how far it came
 * - `not-started`: nothing of it ever ran
 */
export interface StepEnd {
  readonly how: "exited" | "killed" | "lost" | "not-started";
  readonly exitCode: number;
  readonly finishedAt: number;
  /** For people. */
  readonly message?: string;
}
