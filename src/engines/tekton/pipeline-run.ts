import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import { type ContainerState, listBelow } from "../pods.ts";

/** tekton.dev/v1 PipelineRun, as far as we read and write it. */
export interface PipelineRun extends KubeObject {
  readonly spec: {
    readonly params?: readonly Param[];
    readonly pipelineRef?: { readonly resolver: string; readonly params: readonly Param[] };
    readonly pipelineSpec?: PipelineSpec;
    /** Absent: go on. */
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
    /** The pipeline as it was resolved. */
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

export interface RunCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

export interface ChildReference {
  readonly kind: string;
  readonly name: string;
  readonly pipelineTaskName: string;
}

/** tekton.dev/v1 TaskRun, as far as we read it. */
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
  /** Empty as long as no pod was made. */
  readonly podName?: string;
  readonly steps?: readonly StepState[];
}

export interface StepState extends ContainerState {
  readonly name: string;
  readonly container?: string;
  /** Known once the container was made. */
  readonly imageID?: string;
  /** How Tekton's entrypoint saw the step end. */
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

/** The condition with the state of a PipelineRun or TaskRun. Absent until its controller has seen it. */
export function succeededCondition(status?: { readonly conditions?: readonly RunCondition[] }) {
  return status?.conditions?.find(({ type }) => type === "Succeeded");
}

/** Lists every TaskRun of the run that still exists. Undefined: we must not read them. */
export function listTaskRuns(client: KubeClient, run: PipelineRun, signal?: AbortSignal) {
  return listBelow(client, taskRuns, { run, uidLabel: tektonLabels.pipelineRunUid, signal });
}
