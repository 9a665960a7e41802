import { iso } from "../../../kube/index.ts";
import { formatDuration } from "../../../time/index.ts";
import type { PipelineRun } from "../../tekton/pipeline-run.ts";
import { allTasks } from "../pipeline/spec.ts";
import { expand } from "../pipeline/variables.ts";
import { knownIn, type ScheduleDecision, type TaskView } from "../schedule/decide.ts";
import { MissingResult, toValues } from "../schedule/values.ts";
import type { RunWorld } from "../schedule/world.ts";
import { failedVerdict, taskRunName } from "./task-run.ts";

/** On the status of a local run: the data directory that runs it. */
export const directoryAnnotation = "kubernaut.ai/local-directory";

type PipelineRunStatus = NonNullable<PipelineRun["status"]> & Readonly<Record<string, unknown>>;

/** The status of a run, as Tekton would have written it. */
export function pipelineRunStatus(
  run: PipelineRun,
  world: RunWorld,
  decision: ScheduleDecision,
  directory: string,
): PipelineRunStatus {
  const { pipeline, attempts } = world;
  const isOver = decision.run.kind !== "running";
  const condition = toCondition(run, world, decision);
  const children = allTasks(pipeline).filter(({ name }) => attempts.has(name));
  const finallyStarts = (pipeline.finally ?? []).flatMap(({ name }) => attempts.get(name)?.[0]?.startedAt ?? []);
  const skipped = [...decision.tasks].flatMap(([name, view]) =>
    view.kind === "skipped" ? [{ name, reason: view.reason }] : [],
  );
  const results = isOver ? toResults(world, decision) : [];
  return {
    annotations: { [directoryAnnotation]: directory },
    ...(children.length > 0 && {
      childReferences: children.map(({ name }) => ({
        apiVersion: "tekton.dev/v1",
        kind: "TaskRun",
        name: taskRunName(run, name),
        pipelineTaskName: name,
      })),
    }),
    ...(isOver && { completionTime: iso(world.now) }),
    conditions: [{ type: "Succeeded", ...condition, lastTransitionTime: iso(isOver ? world.now : world.startedAt) }],
    ...(finallyStarts.length > 0 && { finallyStartTime: iso(Math.min(...finallyStarts)) }),
    pipelineSpec: pipeline,
    ...(results.length > 0 && { results }),
    ...(skipped.length > 0 && { skippedTasks: skipped }),
    startTime: iso(world.startedAt),
  };
}

/** The status of a run that nothing was done for and nothing will be. */
export function refusedStatus(run: PipelineRun, reason: string, message: string, nowMs: number): PipelineRunStatus {
  const at = iso(nowMs);
  return {
    ...run.status,
    completionTime: at,
    conditions: [{ type: "Succeeded", status: "False", reason, message, lastTransitionTime: at }],
    startTime: run.status?.startTime ?? at,
  };
}

function toCondition({ metadata: { name } }: PipelineRun, world: RunWorld, { run, tasks }: ScheduleDecision) {
  const counts = countTasks(world, tasks);
  switch (run.kind) {
    case "cancelled":
      return failedVerdict("Cancelled", `PipelineRun "${name}" was cancelled`);
    case "timed-out":
      return failedVerdict(
        "PipelineRunTimeout",
        `PipelineRun "${name}" failed to finish within "${formatDuration(world.timeouts.pipelineMs)}"`,
      );
    case "broken":
      return failedVerdict("InvalidTaskResultReference", run.message);
    case "running":
      return { status: "Unknown", reason: runningReason(world, counts), message: sentence(counts) } as const;
    case "finished":
      if (counts.failed > 0) return failedVerdict("Failed", sentence(counts));
      return {
        status: "True",
        reason: counts.skipped > 0 ? "Completed" : "Succeeded",
        message: sentence(counts),
      } as const;
  }
}

function runningReason({ asked, pipeline }: RunWorld, { failed: count }: Counts): string {
  if (asked === "CancelledRunFinally") return "CancelledRunningFinally";
  if (asked === "StoppedRunFinally") return "StoppedRunningFinally";
  // With tasks in finally still to come, Tekton calls a run with a failed task running.
  return asked === "Cancelled" || (count > 0 && !pipeline.finally?.length) ? "Stopping" : "Running";
}

interface Counts {
  readonly completed: number;
  readonly failed: number;
  readonly incomplete: number;
  readonly skipped: number;
}

function countTasks({ pipeline }: RunWorld, tasks: ReadonlyMap<string, TaskView>): Counts {
  const kinds = allTasks(pipeline).map(({ name }) => tasks.get(name)?.kind ?? "waiting");
  const count = (...wanted: readonly TaskView["kind"][]) => kinds.filter((kind) => wanted.includes(kind)).length;
  return {
    completed: count("succeeded", "failed"),
    failed: count("failed"),
    incomplete: count("waiting", "running"),
    skipped: count("skipped"),
  };
}

function sentence({ completed, failed: bad, incomplete, skipped }: Counts): string {
  const rest = incomplete > 0 ? `Incomplete: ${incomplete}, ` : "";
  return `Tasks Completed: ${completed} (Failed: ${bad}, Cancelled 0), ${rest}Skipped: ${skipped}`;
}

function toResults(world: RunWorld, { tasks }: ScheduleDecision): readonly { name: string; value: string }[] {
  const values = toValues(knownIn(world, tasks));
  return (world.pipeline.results ?? []).flatMap(({ name, value }) => {
    try {
      return [{ name, value: expand(value, values) }];
    } catch (error) {
      // A result of a task that did not run is simply not there.
      if (error instanceof MissingResult) return [];
      throw error;
    }
  });
}
