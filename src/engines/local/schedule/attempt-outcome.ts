import type { PipelineTask } from "../pipeline/spec.ts";
import type { Attempt, StepEnd, StepRecord } from "./world.ts";

export type AttemptOutcome =
  | { readonly kind: "running" }
  /** Step `index` is next; it may be the first. */
  | { readonly kind: "next-step"; readonly index: number }
  | { readonly kind: "succeeded"; readonly at: number }
  | {
      readonly kind: "failed";
      readonly at: number;
      /** The step because of which it failed; absent if it was stopped between steps. */
      readonly step?: number;
      /** Whether trying again could be asked for: what was lost may be half done. */
      readonly mayRetry: boolean;
    };

/** The state of an attempt. A step that succeeds after an order to stop has succeeded. */
export function attemptOutcome({ taskSpec: { steps } }: PipelineTask, attempt: Attempt): AttemptOutcome {
  const failed = attempt.steps.findIndex(({ end }, index) => end && !endedWell(end, steps[index]?.onError));
  const last = attempt.steps.at(-1);
  if (last && !last.end) return { kind: "running" };
  if (failed >= 0) {
    const { end } = attempt.steps[failed] as Required<StepRecord>;
    const isOurs = attempt.stop !== undefined && attempt.stop.why !== "timeout";
    return { kind: "failed", at: end.finishedAt, step: failed, mayRetry: end.how !== "lost" && !isOurs };
  }
  if (attempt.steps.length === steps.length) return { kind: "succeeded", at: last?.end?.finishedAt ?? 0 };
  if (attempt.stop) return { kind: "failed", at: attempt.stop.at, mayRetry: attempt.stop.why === "timeout" };
  return { kind: "next-step", index: attempt.steps.length };
}

function endedWell({ how, exitCode }: StepEnd, onError?: string): boolean {
  return how === "exited" && (exitCode === 0 || onError === "continue");
}
