import { isDeepStrictEqual } from "node:util";
import { iso } from "../kube/index.ts";
import type { RunRef, RunStatus, UsedApproval, WorkflowExecutionStatus } from "../resources/index.ts";
import { usedApproval } from "./admission/approval.ts";
import { findHolder, type ObservedRun, type Snapshot } from "./snapshot.ts";

/** The status of an execution in one phase. */
export type PhaseStatus<Phase> = Extract<WorkflowExecutionStatus, { phase: Phase }>;

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
  const holder = findHolder(execution, record);
  const used = holder && (holder.approval ?? (approval && usedApproval(approval)));
  return used ? { approvalRef: used } : {};
}

/** Returns the status with the current state of the run; the same object if nothing changed. */
export function mirroredStatus(status: PhaseStatus<"Running">, run: ObservedRun): PhaseStatus<"Running"> {
  const pipelineRunStatus = toSummary(run);
  const isUnchanged = isDeepStrictEqual(status.pipelineRunStatus, pipelineRunStatus);
  return isUnchanged ? status : { ...status, pipelineRunStatus };
}

export function refTo({ object, uid }: ObservedRun): RunRef {
  const { name = "", namespace = "" } = object.metadata;
  return { name, namespace, uid, kind: object.kind as RunRef["kind"] };
}

export function toSummary({ state }: ObservedRun): RunStatus {
  const status = state.kind === "succeeded" ? "True" : state.kind === "failed" ? "False" : "Unknown";
  if (state.kind === "suspended") return { status };
  const { startedAt: _, ...progress } = state.progress;
  return { status, ...progress };
}

/** Returns the start time of the run as its engine reports it, with milliseconds. */
export function runStartTime({ state }: ObservedRun): string | undefined {
  const startedAt = state.kind === "suspended" ? undefined : state.progress.startedAt;
  return startedAt === undefined ? undefined : iso(startedAt);
}
