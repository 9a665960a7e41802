import type { ParamValue, PipelineSpec } from "../pipeline/spec.ts";

/** The observed state that the next actions of a run depend on. Times are milliseconds since 1970. */
export interface RunSnapshot {
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

/** One attempt of a task. */
export interface Attempt {
  readonly startedAt: number;
  /** Recorded before the first signal to a process. */
  readonly stop?: Stop;
  /** The steps that have begun, in order. All but the last have ended. */
  readonly steps: readonly StepRecord[];
  /** The results of the task, once all its steps have ended. */
  readonly results: Readonly<Record<string, string>>;
}

export interface Stop {
  readonly why: StopReason;
  readonly at: number;
}

/** `timeout` is that of the task. The others come from the run. */
export type StopReason = "cancelled" | "run-timeout" | "timeout";

export interface StepRecord {
  /** Absent while the step runs, or is about to begin. */
  readonly end?: StepEnd;
  /** Absent if the step never began. */
  readonly startedAt?: number;
  readonly pid?: number;
}

/**
 * - `exited`: by itself or by a signal, with an exit code
 * - `killed`: by the runner, without an exit code
 * - `lost`: killed from outside together with its wrapper, or the machine failed; it may be half done
 * - `not-started`: no process of it ever ran
 */
export interface StepEnd {
  readonly how: "exited" | "killed" | "lost" | "not-started";
  readonly exitCode: number;
  readonly finishedAt: number;
  readonly message?: string;
}
