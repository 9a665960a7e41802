import {
  type KubeClient,
  KubeError,
  type KubeObject,
  type ListQuery,
  type ObjectRef,
  type ResourceType,
} from "../kube/index.ts";
import { labelKeys } from "../resources/index.ts";
import type { RunFailure } from "./engine.ts";

/** The fields of a v1 Pod that we read. */
export interface Pod extends KubeObject {
  readonly status?: {
    readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly imageID?: string;
  readonly containerID?: string;
  readonly state?: ContainerState;
}

/** The state of a container, and of a step of a TaskRun. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    /** Absent if a controller that did not observe the end wrote this state. */
    readonly containerID?: string;
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
  };
}

/** A condition in the status of a run. */
export interface RunCondition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

export const pods: ResourceType<Pod> = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Whether the cluster evicted the pod: by node pressure, a drain or preemption. */
export function wasEvicted({ status }: Pod): boolean {
  if (status?.reason === "Evicted") return true;
  return status?.conditions?.some(({ type, status }) => type === "DisruptionTarget" && status === "True") ?? false;
}

/** The security context of every pod of a run: an unprivileged user. */
export const podSecurity = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } as const;

/** Returns the names of the pods whose processes may still be alive, also while a pod is being deleted. */
export function unfinishedPods(pods: readonly Pod[] = []): Pick<RunFailure, "unfinished"> {
  const alive = pods.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  return alive.length > 0 ? { unfinished: alive.map(({ metadata }) => metadata.name ?? "") } : {};
}

/**
 * Lists the names of unfinished pods on a target. Job controller and Tekton copy the labels of a run to its pods. These outlive a
 * deleted run by their grace period, and longer if the run was deleted without its dependents.
 */
export async function listUnfinishedPods(
  client: KubeClient,
  { namespace, targetHash, signal }: { readonly namespace: string; readonly targetHash: string; signal: AbortSignal },
): Promise<readonly string[]> {
  const labelSelector = `${labelKeys.targetHash}=${targetHash}`;
  return unfinishedPods(await listPods(client, { namespace, labelSelector, signal })).unfinished ?? [];
}

/** Lists every pod of a run that still exists. */
export function listRunPods(client: KubeClient, { run, uidLabel, signal }: BelowRun): Promise<readonly Pod[]> {
  const { namespace = "", uid } = run.metadata;
  return listPods(client, { namespace, labelSelector: `${uidLabel}=${uid}`, signal });
}

/** Throws if reading pods is forbidden: then it is unknown whether they have ended. Without that kind there are none. */
async function listPods(
  client: KubeClient,
  { signal, ...query }: ListQuery & { readonly signal?: AbortSignal | undefined },
): Promise<readonly Pod[]> {
  try {
    return (await client.list(pods, query, signal && { signal })).items;
  } catch (error) {
    if (error instanceof KubeError && error.code === "invalid") return [];
    throw error;
  }
}

/** Reasons of a waiting container whose image cannot be pulled. */
export const imageReasons: ReadonlySet<string> = new Set([
  "ErrImageNeverPull",
  "ErrImagePull",
  "ImageInspectError",
  "ImagePullBackOff",
  "InvalidImageName",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);

/** Reasons of a container that could not be started: no process of it ran. */
export const startReasons: ReadonlySet<string> = new Set([
  "ContainerCannotRun",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "StartError",
]);

/** Whether a process of the container had begun. True if that is unknown. */
export function containerBegan({ state, imageID, containerID }: ContainerStatus): boolean {
  if (startReasons.has(state?.terminated?.reason ?? state?.waiting?.reason ?? "")) return false;
  return Boolean(state?.running || state?.terminated?.containerID || containerID || imageID);
}

/** Lists the objects that match `query`; undefined if that is forbidden, or the server does not have their kind. */
export async function listIfReadable<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  query: ListQuery & { readonly signal?: AbortSignal | undefined },
): Promise<readonly T[] | undefined> {
  const { signal, ...selection } = query;
  try {
    return (await client.list(type, selection, signal && { signal })).items;
  } catch (error) {
    if (error instanceof KubeError && (error.code === "forbidden" || error.code === "invalid")) return undefined;
    throw error;
  }
}

interface BelowRun {
  readonly run: KubeObject;
  /** The label whose value is the uid of the run. */
  readonly uidLabel: string;
  readonly signal?: AbortSignal | undefined;
}

/** Lists the objects below a run; undefined if that is forbidden. */
export function listBelow<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { run, uidLabel, signal }: BelowRun,
) {
  const { namespace = "", uid } = run.metadata;
  return listIfReadable(client, type, { namespace, labelSelector: `${uidLabel}=${uid}`, signal });
}

const serviceAccounts: ResourceType<KubeObject> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

/** Whether a service account is missing: the usual reason why a pod cannot be created, which no field of the API reports. */
export async function isServiceAccountMissing(client: KubeClient, ref: ObjectRef, signal?: AbortSignal) {
  try {
    return (await client.get(serviceAccounts, ref, signal && { signal })) === undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === "forbidden") return false;
    throw error;
  }
}
