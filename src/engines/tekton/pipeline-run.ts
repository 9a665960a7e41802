import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import { type ContainerState, listBelow, type RunCondition } from "../pods.ts";

/** The fields of a tekton.dev/v1 PipelineRun that we read and write. */
export interface PipelineRun extends KubeObject {
  readonly spec: {
    readonly params?: readonly Param[];
    readonly pipelineRef?: { readonly resolver: string; readonly params: readonly Param[] };
    readonly pipelineSpec?: PipelineSpec;
    /** Absent: the run proceeds. */
    readonly status?: "PipelineRunPending" | "Cancelled" | "CancelledRunFinally" | "StoppedRunFinally";
    readonly taskRunTemplate?: { readonly serviceAccountName?: string; readonly podTemplate?: object };
    readonly timeouts?: { readonly pipeline?: string; readonly tasks?: string; readonly finally?: string };
  };
  readonly status?: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly conditions?: readonly RunCondition[];
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly childReferences?: readonly ChildReference[];
    /** The resolved pipeline. */
    readonly pipelineSpec?: PipelineSpec;
    /** Where the pipeline came from, once it was resolved. */
    readonly provenance?: {
      readonly refSource?: { readonly uri?: string; readonly digest?: { readonly sha256?: string } };
    };
    readonly skippedTasks?: readonly { readonly name: string; readonly reason: string }[];
  };
}

export interface Param {
  readonly name: string;
  readonly value: string | readonly string[];
}

export interface PipelineSpec {
  readonly tasks?: readonly { readonly name: string }[];
  readonly finally?: readonly { readonly name: string }[];
}

export interface ChildReference {
  readonly kind: string;
  readonly name: string;
  readonly pipelineTaskName: string;
}

/** The fields of a tekton.dev/v1 TaskRun that we read. */
export interface TaskRun extends KubeObject {
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly status?: string;
    readonly statusMessage?: string;
  };
  readonly status?: TaskAttempt & {
    /** Attempts that failed and were repeated. */
    readonly retriesStatus?: readonly TaskAttempt[];
  };
}

export interface TaskAttempt {
  readonly conditions?: readonly RunCondition[];
  readonly startTime?: string;
  readonly completionTime?: string;
  /** Empty until the pod is created. */
  readonly podName?: string;
  readonly steps?: readonly StepState[];
}

export interface StepState extends ContainerState {
  readonly name: string;
  readonly container?: string;
  /** Present once the container was created. */
  readonly imageID?: string;
  /** How the step ended, by Tekton's entrypoint. */
  readonly terminationReason?: string;
}

export const pipelineRuns: ResourceType<PipelineRun> = {
  apiVersion: "tekton.dev/v1",
  kind: "PipelineRun",
  plural: "pipelineruns",
  namespaced: true,
};

export const taskRuns: ResourceType<TaskRun> = {
  apiVersion: "tekton.dev/v1",
  kind: "TaskRun",
  plural: "taskruns",
  namespaced: true,
};

/** Labels by which Tekton marks the TaskRuns and pods of a run. */
export const tektonLabels = {
  pipelineRunUid: "tekton.dev/pipelineRunUID",
  pipelineTask: "tekton.dev/pipelineTask",
} as const;

/** Returns the condition with the state of a PipelineRun or TaskRun; undefined until its controller has written it. */
export function succeededCondition(status?: { readonly conditions?: readonly RunCondition[] }) {
  return status?.conditions?.find(({ type }) => type === "Succeeded");
}

/** Lists every TaskRun of the run that still exists; undefined if that is forbidden. */
export function listTaskRuns(client: KubeClient, run: PipelineRun, signal?: AbortSignal) {
  return listBelow(client, taskRuns, { run, uidLabel: tektonLabels.pipelineRunUid, signal });
}
