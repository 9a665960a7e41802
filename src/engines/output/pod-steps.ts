import { jobUidLabel } from "../job/job.ts";
import { type ContainerStatus, containerBegan, type Pod } from "../pods.ts";
import { tektonLabels } from "../tekton/pipeline-run.ts";
import type { StepLine } from "./step-line.ts";

/** A container that runs, or ran, a step. */
export interface PodStep extends Omit<StepLine, "text"> {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly container: string;
  readonly hasEnded: boolean;
}

/** Returns the label selector of the pods of a run. */
export function podSelector(run: { readonly kind: string; readonly uid: string }): string {
  return `${run.kind === "Job" ? jobUidLabel : tektonLabels.pipelineRunUid}=${run.uid}`;
}

/** Returns the steps of a run that have begun, in the order of their pods and containers. */
export function podSteps(pods: readonly Pod[]): readonly PodStep[] {
  const attempts = new Map<string, number>();
  const ordered = [...pods].sort((one, other) => createdAt(one) - createdAt(other));
  return ordered.flatMap((pod) => {
    const task = pod.metadata.labels?.[tektonLabels.pipelineTask] ?? "job";
    const attempt = (attempts.get(task) ?? 0) + 1;
    attempts.set(task, attempt);
    const { name = "", namespace = "", uid = "" } = pod.metadata;
    return (pod.status?.containerStatuses ?? []).filter(containerBegan).map((status) => ({
      ...{ task, attempt, namespace, pod: name, podUid: uid, container: status.name },
      // Tekton prefixes the containers of steps.
      step: status.name.replace(/^step-/, ""),
      hasEnded: hasEnded(status, pod),
    }));
  });
}

function hasEnded({ state }: ContainerStatus, { status }: Pod): boolean {
  return state?.terminated !== undefined || status?.phase === "Succeeded" || status?.phase === "Failed";
}

function createdAt({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? "") || 0;
}
