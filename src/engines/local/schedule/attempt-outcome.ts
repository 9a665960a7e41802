import type { PipelineTask } from "../pipeline/spec.ts";
import type { Attempt, StepEnd, StepRecord } from "./run-snapshot.ts";

export type AttemptOutcome =
  | { readonly kind: "running" }
  /** Step `index` is to be started. It may be the first. */
  | { readonly kind: "next-step"; readonly index: number }
  | { readonly kind: "succeeded"; readonly at: number }
  | {
      readonly kind: "failed";
      readonly at: number;
      /** The step that made it fail; absent if it was stopped between steps. */
      readonly step?: number;
      /** Whether a retry is allowed: a lost step may be half done. */
      readonly mayRetry: boolean;
    };

/** Returns the state of an attempt. A step that still succeeds after the request to stop counts as succeeded. */
export function attemptOutcome({ taskSpec: { steps } }: PipelineTask, attempt: Attempt): AttemptOutcome {
  const failed = attempt.steps.findIndex(({ end }, index) => end && !hasSucceeded(end, steps[index]?.onError));
  const last = attempt.steps.at(-1);
  if (last && !last.end) return { kind: "running" };
  if (failed >= 0) {
    const { end } = attempt.steps[failed] as Required<StepRecord>;
    const wasStoppedByRun = attempt.stop !== undefined && attempt.stop.why !== "timeout";
    return { kind: "failed", at: end.finishedAt, step: failed, mayRetry: end.how !== "lost" && !wasStoppedByRun };
  }
  if (attempt.steps.length === steps.length) return { kind: "succeeded", at: last?.end?.finishedAt ?? 0 };
  if (attempt.stop) return { kind: "failed", at: attempt.stop.at, mayRetry: attempt.stop.why === "timeout" };
  return { kind: "next-step", index: attempt.steps.length };
}

function hasSucceeded({ how, exitCode }: StepEnd, onError?: string): boolean {
  return how === "exited" && (exitCode === 0 || onError === "continue");
}
