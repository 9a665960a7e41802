import type { KubeObject, ResourceType } from "./object.ts";

/** An event about an object, for users of kubectl. */
export interface KubeEvent extends KubeObject {
  readonly involvedObject: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
  };
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string };
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

export const kubeEvents: ResourceType<KubeEvent> = {
  apiVersion: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};
