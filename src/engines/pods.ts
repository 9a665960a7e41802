import type { KubeObject, ResourceType } from "../kube/index.ts";

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
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: { readonly startedAt?: string };
    readonly terminated?: {
      readonly exitCode: number;
      readonly reason?: string;
      readonly message?: string;
      readonly containerID?: string;
      readonly startedAt?: string;
      readonly finishedAt?: string;
    };
  };
}

export const pods: ResourceType<Pod> = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** Whether the cluster put the pod out: its node ran short, was drained, or something more important came. */
export function wasEvicted({ status }: Pod): boolean {
  if (status?.reason === "Evicted") return true;
  return status?.conditions?.some((c) => c.type === "DisruptionTarget" && c.status === "True") ?? false;
}

/** Whether processes of the pod may still be alive. Being deleted takes as long as its grace period. */
export function isAlive({ status }: Pod): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed";
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
