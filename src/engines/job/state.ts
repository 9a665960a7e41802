import type { Patch } from "../../kube/index.ts";
import { annotationKeys } from "../../resources/index.ts";
import type { RunProgress, RunState } from "../engine.ts";
import { patchAtVersion } from "../patch-at-version.ts";
import { type Job, jobCondition } from "./job.ts";

/** The state of a Job, from its status. */
export function jobState(job: Job): RunState {
  const complete = jobCondition(job, "Complete");
  if (complete) return endedState("succeeded", job, job.status?.completionTime ?? complete.lastTransitionTime);
  const failed = jobCondition(job, "Failed");
  if (failed) return endedState("failed", job, failed.lastTransitionTime);
  if (job.spec.suspend && wasCancelled(job) && hasComeToRest(job)) return endedState("failed", job, restedSince(job));
  if (job.spec.suspend && !job.status?.startTime && !wasCancelled(job)) return { kind: "suspended" };
  return { kind: "running", progress: toProgress(job) };
}

/** Whether we asked the Job to stop. */
export function wasCancelled({ metadata }: Job): boolean {
  return metadata.annotations?.[annotationKeys.cancelled] === "true";
}

/** A suspended Job has no end of its own: it is over when it never began, or when none of its pods is left. */
function hasComeToRest(job: Job): boolean {
  const { startTime, active = 0, terminating = 0 } = job.status ?? {};
  return !startTime || (jobCondition(job, "Suspended") !== undefined && active === 0 && terminating === 0);
}

function restedSince(job: Job): string {
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

/** Lets a suspended Job go on: a conflict for one that was replaced, changed or started meanwhile. */
export function startJob(job: Job): Patch {
  return patchAtVersion(job, { spec: { suspend: false } });
}

/**
 * Ends a Job. One that is going on gets a deadline that has passed: its controller then ends the pods and writes that
 * it failed, once they are gone. (Suspending it would end the pods too, but leave a Job that any client could resume, and
 * that looks at rest to us before its controller has seen it.) One that is suspended only needs the mark.
 */
export function cancelJob(job: Job): Patch {
  return patchAtVersion(job, {
    metadata: { annotations: { [annotationKeys.cancelled]: "true" } },
    ...(!job.spec.suspend && { spec: { activeDeadlineSeconds: 1 } }),
  });
}
