import type { Metrics } from "../../../telemetry/index.ts";
import { type PipelineRun, succeededCondition } from "../../tekton/pipeline-run.ts";
import type { StepEnd } from "../schedule/run-snapshot.ts";

const runOutcomes = ["succeeded", "failed", "cancelled", "timed_out", "refused", "deleted"] as const;
const stepOutcomes = ["succeeded", "failed", "killed", "lost"] as const;

/** The metrics of the local engine. */
export interface LocalMetrics {
  runBegun(): void;
  runEnded(outcome: (typeof runOutcomes)[number]): void;
  /** A step of an earlier runner was found alive. */
  stepAdopted(): void;
  stepEnded(end: StepEnd, startedAt: number | undefined): void;
}

/** Declares the metrics of the local engine. `stepsAlive` is called at each scrape. */
export function localMetrics(metrics: Metrics, stepsAlive: () => number): LocalMetrics {
  const begun = metrics.counter("local_runs_begun_total", "Runs started.");
  const ended = metrics.counter(
    "local_runs_ended_total",
    "Runs that have ended: by themselves, or because they were cancelled, timed out, invalid or deleted.",
    { outcome: runOutcomes },
  );
  const adopted = metrics.counter(
    "local_steps_adopted_total",
    "Steps of an earlier process that were found alive and adopted.",
  );
  const durations = metrics.histogram(
    "local_step_duration_seconds",
    "Time from the start of a step until the last of its processes ended.",
    [0.1, 0.5, 1, 5, 15, 60, 300, 900, 1_800, 3_600],
    { outcome: stepOutcomes },
  );
  metrics.gauge("local_steps_alive", "Steps supervised now.", () => stepsAlive());
  return {
    runBegun: () => begun.inc(),
    runEnded: (outcome) => ended.with({ outcome }).inc(),
    stepAdopted: () => adopted.inc(),
    stepEnded(end, startedAt) {
      if (end.how === "not-started" || startedAt === undefined) return;
      durations.with({ outcome: toOutcome(end) }).observe(Math.max(0, end.finishedAt - startedAt) / 1_000);
    },
  };
}

/** Returns how a run ended, by its published status. */
export function runOutcome({ status }: PipelineRun): (typeof runOutcomes)[number] {
  const condition = succeededCondition(status);
  if (condition?.status === "True") return "succeeded";
  if (condition?.reason === "Cancelled") return "cancelled";
  return condition?.reason === "PipelineRunTimeout" ? "timed_out" : "failed";
}

function toOutcome({ how, exitCode }: StepEnd): (typeof stepOutcomes)[number] {
  if (how === "killed" || how === "lost") return how;
  return exitCode === 0 ? "succeeded" : "failed";
}
