import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import { listBelow, pods, type RunCondition } from "../pods.ts";

/** The fields of a batch/v1 Job that we read and write. */
export interface Job extends KubeObject {
  readonly spec: {
    readonly suspend?: boolean;
    readonly backoffLimit?: number;
    readonly podReplacementPolicy?: "Failed";
    readonly podFailurePolicy?: object;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly template: { readonly metadata?: object; readonly spec: PodSpec };
  };
  readonly status?: {
    readonly conditions?: readonly JobCondition[];
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly active?: number;
    readonly terminating?: number;
    readonly succeeded?: number;
    readonly failed?: number;
  };
}

export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly restartPolicy: "Never";
  readonly activeDeadlineSeconds: number;
  readonly securityContext: object;
  readonly containers: readonly Container[];
  readonly volumes: readonly object[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly securityContext: object;
  readonly volumeMounts: readonly object[];
}

export interface JobCondition extends RunCondition {
  readonly type: "Complete" | "Failed" | "Suspended" | "FailureTarget" | "SuccessCriteriaMet";
}

export const jobs: ResourceType<Job> = { apiVersion: "batch/v1", kind: "Job", plural: "jobs", namespaced: true };

/** The label by which the Job controller marks the pods of a Job. */
export const jobUidLabel = "batch.kubernetes.io/controller-uid";

/** Returns the condition of the Job if its status is True. */
export function jobCondition({ status }: Job, type: JobCondition["type"]): JobCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === "True");
}

/** Lists every pod of the Job that still exists; undefined if that is forbidden. */
export function listJobPods(client: KubeClient, job: KubeObject, signal?: AbortSignal) {
  return listBelow(client, pods, { run: job, uidLabel: jobUidLabel, signal });
}
