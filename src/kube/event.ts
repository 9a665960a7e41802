import type { KubeObject, ResourceType } from "./object.ts";
import { nameHash } from "./object.ts";
import { iso } from "./runtime/writes.ts";

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

interface EventDraft extends Pick<KubeEvent, "type" | "reason" | "message"> {
  /** Of the events about one object, those with the same key are one. */
  readonly key: string;
  /** The stage that reports it. */
  readonly stage: string;
  readonly atMs: number;
}

/** Returns an Event about an object of this type. Its name derives from the object and the key, so that it is written once. */
export function draftKubeEvent(about: ResourceType, object: KubeObject, draft: EventDraft): KubeEvent {
  const { name = "", namespace = "", uid = "" } = object.metadata;
  const { type, reason, message, key, stage, atMs } = draft;
  return {
    apiVersion: kubeEvents.apiVersion,
    kind: kubeEvents.kind,
    metadata: { name: `${name.slice(0, 180)}.${nameHash(`${uid}/${key}`).slice(0, 16)}`, namespace },
    involvedObject: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid },
    type,
    reason,
    message: message.slice(0, 1_000),
    source: { component: `interlock-${stage}` },
    firstTimestamp: iso(atMs),
    lastTimestamp: iso(atMs),
    count: 1,
  };
}
