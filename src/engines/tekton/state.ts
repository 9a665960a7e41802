import { type Patch, patchAtVersion } from "../../kube/index.ts";
import type { RunProgress, RunState } from "../engine.ts";
import type { RunCondition } from "../pods.ts";
import { type PipelineRun, type PipelineSpec, succeededCondition } from "./pipeline-run.ts";

/** Returns the state of a PipelineRun. Only its condition ends it: a cancellation that Tekton has not read yet stops nothing. */
export function pipelineRunState(run: PipelineRun): RunState {
  const condition = succeededCondition(run.status);
  if (condition?.status === "True") return endedState("succeeded", run, condition);
  if (condition?.status === "False") return endedState("failed", run, condition);
  if (run.spec.status === "PipelineRunPending" && !run.status?.startTime) return { kind: "suspended" };
  return { kind: "running", progress: toProgress(run) };
}

function endedState(kind: "succeeded" | "failed", run: PipelineRun, condition: RunCondition): RunState {
  return { kind, progress: toProgress(run), completedAt: run.status?.completionTime ?? condition.lastTransitionTime };
}

function toProgress({ status }: PipelineRun): RunProgress {
  const { reason, message } = succeededCondition(status) ?? {};
  const completedTasks = parseCompletedTasks(message);
  return {
    ...(status?.startTime && { startedAt: status.startTime }),
    ...(reason && { reason }),
    ...(message && { message }),
    ...(completedTasks !== undefined && { completedTasks }),
    ...(status?.pipelineSpec && { totalTasks: taskCount(status.pipelineSpec) }),
  };
}

function taskCount({ tasks = [], finally: last = [] }: PipelineSpec): number {
  return tasks.length + last.length;
}

/** Reads the count from the message, the only place where the run has it; this saves reading each TaskRun. */
function parseCompletedTasks(message = ""): number | undefined {
  const [, count] = /^Tasks Completed: (\d+) \(Failed: \d+, Cancelled \d+\)/.exec(message) ?? [];
  return count === undefined ? undefined : Number(count);
}

/** Starts a suspended run: a conflict if it was replaced, changed or started meanwhile. */
export function startPipelineRun(run: PipelineRun): Patch {
  return patchAtVersion(run, { spec: { status: null } });
}

/**
 * Cancels a run without its `finally` tasks. Tekton ends a suspended one without a TaskRun. The patch is conditional, because Tekton
 * rejects the change of a run that has ended meanwhile, which is no error.
 */
export function cancelPipelineRun(run: PipelineRun): Patch {
  return patchAtVersion(run, { spec: { status: "Cancelled" } });
}
