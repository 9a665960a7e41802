import type { KubeObject, ResourceType } from "../../kube/index.ts";

/** The fields of a Pod that actions read. */
export interface ObservedPod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly volumes?: readonly { readonly emptyDir?: object }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly lastTransitionTime?: string;
    }[];
  };
}

export const pods: ResourceType<ObservedPod> = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };

/** The name of a pod in messages. */
export function podText({ metadata }: KubeObject): string {
  return `pod ${metadata.namespace}/${metadata.name}`;
}

/** Returns the controller of a pod, which replaces it. */
export function podController({ metadata }: KubeObject) {
  return metadata.ownerReferences?.find(({ controller }) => controller);
}

export function isFinished({ status }: ObservedPod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
