import { type Patch, patchAtVersion } from "../../kube/index.ts";
import { annotationKeys } from "../../resources/index.ts";
import type { RunProgress, RunState } from "../engine.ts";
import { type Job, jobCondition } from "./job.ts";

/** Returns the state of a Job, by its status. */
export function jobState(job: Job): RunState {
  const complete = jobCondition(job, "Complete");
  if (complete) return endedState("succeeded", job, job.status?.completionTime ?? complete.lastTransitionTime);
  const failed = jobCondition(job, "Failed");
  if (failed) return endedState("failed", job, failed.lastTransitionTime);
  if (job.spec.suspend && wasCancelled(job) && hasStopped(job)) return endedState("failed", job, stoppedAt(job));
  if (job.spec.suspend && !job.status?.startTime && !wasCancelled(job)) return { kind: "suspended" };
  return { kind: "running", progress: toProgress(job) };
}

/** Whether we requested the Job to stop. */
export function wasCancelled({ metadata }: Job): boolean {
  return metadata.annotations?.[annotationKeys.cancelled] === "true";
}

/** Whether a suspended Job, which has no end of its own, never began or has no pods any more. */
function hasStopped(job: Job): boolean {
  const { startTime, active = 0, terminating = 0 } = job.status ?? {};
  return !startTime || (jobCondition(job, "Suspended") !== undefined && active === 0 && terminating === 0);
}

function stoppedAt(job: Job): string {
  return jobCondition(job, "Suspended")?.lastTransitionTime ?? job.metadata.creationTimestamp ?? "";
}

function endedState(kind: "succeeded" | "failed", job: Job, completedAt: string): RunState {
  return { kind, progress: toProgress(job), completedAt };
}

function toProgress(job: Job): RunProgress {
  const { startTime, succeeded = 0, failed = 0 } = job.status ?? {};
  const condition = (["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"] as const)
    .map((type) => jobCondition(job, type))
    .find((condition) => condition !== undefined);
  return {
    ...(startTime && { startedAt: startTime }),
    ...(condition?.reason && { reason: condition.reason }),
    ...(condition?.message && { message: condition.message }),
    completedTasks: Math.min(1, succeeded + failed),
    totalTasks: 1,
  };
}

/** Starts a suspended Job: a conflict if it was replaced, changed or started meanwhile. */
export function startJob(job: Job): Patch {
  return patchAtVersion(job, { spec: { suspend: false } });
}

/**
 * Cancels a Job. A running one gets a deadline in the past: its controller then ends the pods, and sets the Job to failed when they
 * are gone. (Suspending it would end the pods too, but any client could resume the Job, and it would seem stopped before its
 * controller has seen the change.) A suspended one only needs the annotation.
 */
export function cancelJob(job: Job): Patch {
  return patchAtVersion(job, {
    metadata: { annotations: { [annotationKeys.cancelled]: "true" } },
    ...(!job.spec.suspend && { spec: { activeDeadlineSeconds: 1 } }),
  });
}
