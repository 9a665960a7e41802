import type { RunProgress } from "../engines/index.ts";
import { iso } from "../kube/index.ts";
import type { RunRef, RunStatus, UsedApproval, WorkflowExecutionStatus } from "../resources/index.ts";
import { usedApproval } from "./admission/approval.ts";
import type { ObservedRun, Snapshot } from "./snapshot.ts";

type PhaseStatus<Phase> = Extract<WorkflowExecutionStatus, { phase: Phase }>;

export function pendingStatus(): PhaseStatus<"Pending"> {
  return { phase: "Pending" };
}

export function runningStatus(snapshot: Snapshot, run: ObservedRun): PhaseStatus<"Running"> {
  const { nowMs } = snapshot;
  return {
    phase: "Running",
    startTime: runStartTime(run) ?? iso(nowMs),
    pipelineRunRef: refTo(run),
    pipelineRunStatus: toSummary(run),
    workload: run.workload,
    ...approvalIn(snapshot),
  };
}

/**
 * Returns the approval by which the execution was admitted, while it holds its target. A rebuilt record does not contain it,
 * but the execution refers to it.
 */
export function approvalIn({ execution, record, approval }: Snapshot): { readonly approvalRef?: UsedApproval } {
  const holder = record?.status?.holder;
  if (holder?.executionUid !== execution.metadata.uid) return {};
  const used = holder?.approval ?? (approval && usedApproval(approval));
  return used ? { approvalRef: used } : {};
}

/** Returns the status with the current state of the run; the same object if nothing changed. */
export function mirroredStatus(status: PhaseStatus<"Running">, run: ObservedRun): PhaseStatus<"Running"> {
  const pipelineRunStatus = toSummary(run);
  return sameSummary(status.pipelineRunStatus, pipelineRunStatus) ? status : { ...status, pipelineRunStatus };
}

export function refTo({ object, uid }: ObservedRun): RunRef {
  const { name = "", namespace = "" } = object.metadata;
  return { name, namespace, uid, kind: object.kind as RunRef["kind"] };
}

export function toSummary({ state }: ObservedRun): RunStatus {
  const status = state.kind === "succeeded" ? "True" : state.kind === "failed" ? "False" : "Unknown";
  const { reason, message, completedTasks, totalTasks } = toProgress(state);
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(completedTasks === undefined ? {} : { completedTasks }),
    ...(totalTasks === undefined ? {} : { totalTasks }),
  };
}

/** Returns the start time of the run as its engine reports it, with milliseconds. */
export function runStartTime({ state }: ObservedRun): string | undefined {
  const { startedAt } = toProgress(state);
  return startedAt === undefined ? undefined : iso(startedAt);
}

function toProgress(state: ObservedRun["state"]): RunProgress {
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
