import type { RunProgress } from "../engines/index.ts";
import type { RunRef, RunStatus, WorkflowExecutionStatus } from "../resources/index.ts";
import type { Seen, SeenRun } from "./seen.ts";

type Status<Phase> = Extract<WorkflowExecutionStatus, { phase: Phase }>;

export function pending(): Status<"Pending"> {
  return { phase: "Pending" };
}

export function running({ nowMs }: Seen, run: SeenRun): Status<"Running"> {
  return {
    phase: "Running",
    startTime: startTimeOf(run) ?? new Date(nowMs).toISOString(),
    pipelineRunRef: refTo(run),
    pipelineRunStatus: summaryOf(run),
  };
}

/** The status with what the run says of itself now; the very same object if that is nothing new. */
export function mirrored(status: Status<"Running">, run: SeenRun): Status<"Running"> {
  const pipelineRunStatus = summaryOf(run);
  return sameSummary(status.pipelineRunStatus, pipelineRunStatus) ? status : { ...status, pipelineRunStatus };
}

export function refTo({ object, uid }: SeenRun): RunRef {
  const { name = "", namespace = "" } = object.metadata;
  return { name, namespace, uid, kind: object.kind as RunRef["kind"] };
}

export function summaryOf({ state }: SeenRun): RunStatus {
  const status = state.kind === "succeeded" ? "True" : state.kind === "failed" ? "False" : "Unknown";
  const { reason, message, completedTasks, totalTasks } = progressOf(state);
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(completedTasks === undefined ? {} : { completedTasks }),
    ...(totalTasks === undefined ? {} : { totalTasks }),
  };
}

/** When the engine says that the run began, with milliseconds as in all times we write. */
export function startTimeOf({ state }: SeenRun): string | undefined {
  const { startedAt } = progressOf(state);
  return startedAt === undefined ? undefined : new Date(startedAt).toISOString();
}

function progressOf(state: SeenRun["state"]): RunProgress {
  return state.kind === "suspended" ? {} : state.progress;
}

function sameSummary(a: RunStatus | undefined, b: RunStatus): boolean {
  return (
    a?.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.completedTasks === b.completedTasks &&
    a.totalTasks === b.totalTasks
  );
}
