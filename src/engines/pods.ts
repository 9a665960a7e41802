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

/** v1 Pod, as far as we read it. */
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

/** The state of a container. Tekton reports the steps of a TaskRun in the same form. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    /** Absent if the end was written by a controller that did not see the container end. */
    readonly containerID?: string;
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
  };
}

export const pods: ResourceType<Pod> = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Whether the cluster put the pod out: its node ran short, was drained, or something more important came. */
export function wasEvicted({ status }: Pod): boolean {
  if (status?.reason === "Evicted") return true;
  return status?.conditions?.some((c) => c.type === "DisruptionTarget" && c.status === "True") ?? false;
}

/** The security context of every pod of a run: an ordinary user without privileges. */
export const podSecurity = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } as const;

/** The pods whose processes may still be alive. Being deleted takes as long as the grace period of a pod. */
export function unfinishedPods(pods: readonly Pod[] = []): Pick<RunFailure, "unfinished"> {
  const alive = pods.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  return alive.length > 0 ? { unfinished: alive.map(({ metadata }) => metadata.name ?? "") } : {};
}

/**
 * Lists the names of unfinished pods on a target; none if we must not read them. Job controller and Tekton copy the labels of a run to
 * its pods, which outlive a run that is deleted by their grace period, and one that is deleted without its dependents by more.
 */
export async function listUnfinishedPods(
  client: KubeClient,
  { namespace, targetHash, signal }: { readonly namespace: string; readonly targetHash: string; signal: AbortSignal },
): Promise<readonly string[]> {
  const labelSelector = `${labelKeys.targetHash}=${targetHash}`;
  return unfinishedPods(await listIfReadable(client, pods, { namespace, labelSelector, signal })).unfinished ?? [];
}

/** Reasons for which a container waits because its image does not come. */
export const imageReasons: ReadonlySet<string> = new Set([
  "ErrImageNeverPull",
  "ErrImagePull",
  "ImageInspectError",
  "ImagePullBackOff",
  "InvalidImageName",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);

/** Reasons for which a container could be made and not be started: nothing of it ran. */
export const startReasons: ReadonlySet<string> = new Set([
  "ContainerCannotRun",
  "CreateContainerConfigError",
  "CreateContainerError",
  "RunContainerError",
  "StartError",
]);

/** Whether a process of the container had begun. In doubt, yes. */
export function containerBegan({ state, imageID, containerID }: ContainerStatus): boolean {
  if (startReasons.has(state?.terminated?.reason ?? state?.waiting?.reason ?? "")) return false;
  return Boolean(state?.running || state?.terminated?.containerID || containerID || imageID);
}

/** The objects that fit `query`; undefined if we must not read them, or the server does not have their kind. */
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

/** Lists the objects below a run, which `uidLabel` marks with its uid; undefined if we must not read them. */
export function listBelow<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { run, uidLabel, signal }: { readonly run: KubeObject; readonly uidLabel: string; signal?: AbortSignal | undefined },
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

/**
 * Whether a service account is known to be missing. Kubernetes reports only in a sentence why a pod could not be
 * made, so the usual cause is checked.
 */
export async function isServiceAccountMissing(client: KubeClient, ref: ObjectRef, signal?: AbortSignal) {
  try {
    return (await client.get(serviceAccounts, ref, signal && { signal })) === undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === "forbidden") return false;
    throw error;
  }
}
