import { iso } from "../../../kube/index.ts";
import { formatDuration } from "../../../time/index.ts";
import type { PipelineRun } from "../../tekton/pipeline-run.ts";
import { allTasks } from "../pipeline/spec.ts";
import { type ScheduleDecision, type TaskView, valueSource } from "../schedule/decide.ts";
import type { RunSnapshot } from "../schedule/run-snapshot.ts";
import { expand, MissingResult } from "../schedule/values.ts";
import { failedCondition, taskRunName } from "./task-run.ts";

/** The annotation in the status of a local run with the id of its data directory. */
export const directoryAnnotation = "kubernaut.ai/local-directory";

type PipelineRunStatus = NonNullable<PipelineRun["status"]> & Readonly<Record<string, unknown>>;

/** Returns the status of a run in the form of Tekton. */
export function pipelineRunStatus(
  run: PipelineRun,
  snapshot: RunSnapshot,
  decision: ScheduleDecision,
  directory: string,
): PipelineRunStatus {
  const { pipeline, attempts } = snapshot;
  const isOver = decision.run.kind !== "running";
  const condition = toCondition(run, snapshot, decision);
  const children = allTasks(pipeline).filter(({ name }) => attempts.has(name));
  const finallyStarts = (pipeline.finally ?? []).flatMap(({ name }) => attempts.get(name)?.[0]?.startedAt ?? []);
  const skipped = [...decision.tasks].flatMap(([name, view]) =>
    view.kind === "skipped" ? [{ name, reason: view.reason }] : [],
  );
  const results = isOver ? toResults(snapshot, decision) : [];
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
    ...(isOver && { completionTime: iso(snapshot.now) }),
    conditions: [
      { type: "Succeeded", ...condition, lastTransitionTime: iso(isOver ? snapshot.now : snapshot.startedAt) },
    ],
    ...(finallyStarts.length > 0 && { finallyStartTime: iso(Math.min(...finallyStarts)) }),
    pipelineSpec: pipeline,
    ...(results.length > 0 && { results }),
    ...(skipped.length > 0 && { skippedTasks: skipped }),
    startTime: iso(snapshot.startedAt),
  };
}

/** Returns the status of a run that fails without a further step. */
export function refusedStatus(run: PipelineRun, reason: string, message: string, nowMs: number): PipelineRunStatus {
  const at = iso(nowMs);
  return {
    ...run.status,
    completionTime: at,
    conditions: [{ type: "Succeeded", status: "False", reason, message, lastTransitionTime: at }],
    startTime: run.status?.startTime ?? at,
  };
}

function toCondition({ metadata: { name } }: PipelineRun, snapshot: RunSnapshot, { run, tasks }: ScheduleDecision) {
  const counts = countTasks(snapshot, tasks);
  switch (run.kind) {
    case "cancelled":
      return failedCondition("Cancelled", `PipelineRun "${name}" was cancelled`);
    case "timed-out":
      return failedCondition(
        "PipelineRunTimeout",
        `PipelineRun "${name}" failed to finish within "${formatDuration(snapshot.timeouts.pipelineMs)}"`,
      );
    case "broken":
      return failedCondition("InvalidTaskResultReference", run.message);
    case "running":
      return { status: "Unknown", reason: runningReason(snapshot, counts), message: describeCounts(counts) } as const;
    case "finished":
      if (counts.failed > 0) return failedCondition("Failed", describeCounts(counts));
      return {
        status: "True",
        reason: counts.skipped > 0 ? "Completed" : "Succeeded",
        message: describeCounts(counts),
      } as const;
  }
}

function runningReason({ asked, pipeline }: RunSnapshot, { failed }: Counts): string {
  if (asked === "CancelledRunFinally") return "CancelledRunningFinally";
  if (asked === "StoppedRunFinally") return "StoppedRunningFinally";
  // Before the tasks in finally, Tekton reports a run with a failed task as Running.
  return asked === "Cancelled" || (failed > 0 && !pipeline.finally?.length) ? "Stopping" : "Running";
}

interface Counts {
  readonly completed: number;
  readonly failed: number;
  readonly incomplete: number;
  readonly skipped: number;
}

function countTasks({ pipeline }: RunSnapshot, tasks: ReadonlyMap<string, TaskView>): Counts {
  const kinds = allTasks(pipeline).map(({ name }) => tasks.get(name)?.kind ?? "waiting");
  const count = (...wanted: readonly TaskView["kind"][]) => kinds.filter((kind) => wanted.includes(kind)).length;
  return {
    completed: count("succeeded", "failed"),
    failed: count("failed"),
    incomplete: count("waiting", "running"),
    skipped: count("skipped"),
  };
}

function describeCounts({ completed, failed, incomplete, skipped }: Counts): string {
  const rest = incomplete > 0 ? `Incomplete: ${incomplete}, ` : "";
  return `Tasks Completed: ${completed} (Failed: ${failed}, Cancelled 0), ${rest}Skipped: ${skipped}`;
}

function toResults(snapshot: RunSnapshot, { tasks }: ScheduleDecision): readonly { name: string; value: string }[] {
  const source = valueSource(snapshot, tasks);
  return (snapshot.pipeline.results ?? []).flatMap(({ name, value }) => {
    try {
      return [{ name, value: expand(value, source) }];
    } catch (error) {
      // The task of this result did not run.
      if (error instanceof MissingResult) return [];
      throw error;
    }
  });
}
