import type { FailureReason } from "../../resources/index.ts";
import { cutText } from "../../telemetry/index.ts";
import type { RunFailure } from "../engine.ts";
import {
  type ContainerStatus,
  containerBegan,
  imageReasons,
  type Pod,
  startReasons,
  unfinishedPods,
  wasEvicted,
} from "../pods.ts";
import { type Job, jobCondition } from "./job.ts";
import { containerName } from "./manifest.ts";
import { wasCancelled } from "./state.ts";

/**
 * Returns why a Job failed, by reasons and states alone: messages differ between versions of Kubernetes. `pods` are those of the Job
 * that still exist.
 */
export function jobFailure(job: Job, pods: readonly Pod[]): RunFailure {
  const pod = pods.find((candidate) => candidate.status?.phase !== "Succeeded");
  const container = pod?.status?.containerStatuses?.find(({ name }) => name === containerName);
  const exitCode = container && ownExitCode(container);
  return {
    reason: failureReason(job, pod, container),
    message: failureMessage(job, pod, container),
    anythingStarted: anythingStarted(job, pods),
    ...(container && { failedStepName: container.name }),
    ...(exitCode !== undefined && { exitCode }),
    ...unfinishedPods(pods),
  };
}

function failureReason(job: Job, pod?: Pod, container?: ContainerStatus): FailureReason {
  if (wasCancelled(job)) return "Cancelled";
  if (pod && wasEvicted(pod)) return "Evicted";
  const { waiting, terminated } = container?.state ?? {};
  if (terminated?.reason === "OOMKilled") return "OOMKilled";
  if (imageReasons.has(waiting?.reason ?? "")) return "ImagePullFailed";
  if (startReasons.has(terminated?.reason ?? waiting?.reason ?? "")) return "ConfigurationError";
  if (pod?.status?.reason === "DeadlineExceeded") return "Timeout";
  return jobReasons.get(jobCondition(job, "Failed")?.reason ?? "") ?? "Unknown";
}

/** `PodFailurePolicy`: our only rule is the one for evictions. */
const jobReasons: ReadonlyMap<string, FailureReason> = new Map([
  ["BackoffLimitExceeded", "TaskRunFailed"],
  ["DeadlineExceeded", "Timeout"],
  ["PodFailurePolicy", "Evicted"],
]);

/** Whether the Job failed without ever having had a pod: the Job counts each of its pods. */
function neverHadPod({ status }: Job, pods: readonly Pod[]): boolean {
  const { failed = 0, succeeded = 0, active = 0, terminating = 0 } = status ?? {};
  return failed + succeeded + active + terminating + pods.length === 0;
}

function anythingStarted(job: Job, pods: readonly Pod[]): boolean {
  if (!job.status?.startTime || neverHadPod(job, pods)) return false;
  if (pods.length === 0 || pods.length < (job.status.failed ?? 0)) return true;
  return pods.some(({ status }) => {
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    // A pod that runs or has ended and reports no containers may have run them.
    return containers.length === 0 ? status?.phase !== "Pending" : containers.some(containerBegan);
  });
}

function ownExitCode({ state }: ContainerStatus): number | undefined {
  // The kubelet reports this end, with an exit code, for a container that it never found.
  return state?.terminated?.reason === "ContainerStatusUnknown" ? undefined : state?.terminated?.exitCode;
}

/** The message that a container leaves may have 4 KiB. */
const maxMessage = 500;

function failureMessage(job: Job, pod?: Pod, container?: ContainerStatus): string {
  if (wasCancelled(job)) return "the Job was cancelled";
  const { waiting, terminated } = container?.state ?? {};
  // The pod of a container that never started only reports its deadline.
  if (pod && waiting?.message && !wasEvicted(pod)) return waiting.message;
  if (pod?.status?.message) return pod.status.message;
  if (terminated) {
    const { exitCode, reason = "Error", message } = terminated;
    return `container ${container?.name} exited with code ${exitCode}: ${message ? cutText(message.trim(), maxMessage) : reason}`;
  }
  return jobCondition(job, "Failed")?.message || "the Job failed and gave no reason";
}
