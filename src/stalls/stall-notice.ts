import { draftKubeEvent, type KubeEvent, type KubeObject, nameHash, type ResourceType } from "../kube/index.ts";
import {
  describeStall,
  type NotificationRequest,
  notificationRequests,
  remediationRequests,
  type Stall,
} from "../resources/index.ts";

/** Longer lists are cut: all entries have the same error. */
const maxEntries = 20;

/** An object on which work is stalled, and its stall. */
export interface StalledObject {
  readonly object: KubeObject;
  readonly stall: Stall;
}

export interface NoticeOptions {
  readonly stage: string;
  /** In the singular: `execution`. */
  readonly noun: string;
  /** The objects that are stalled for one reason, the oldest first. */
  readonly stalled: readonly [StalledObject, ...StalledObject[]];
}

/** Returns one notice for all objects that are stalled for one reason. Its name derives from the oldest, so replicas share it. */
export function stallNotice({ stage, noun, stalled }: NoticeOptions): NotificationRequest {
  const [{ object, stall }] = stalled;
  const { name = "", namespace = "", uid = "" } = object.metadata;
  const { apiVersion, kind } = notificationRequests;
  const what = stalled.length === 1 ? `${noun} ${name}` : `${stalled.length} ${noun}s`;
  const entries = stalled.slice(0, maxEntries).map(({ object, stall }) => ({
    name: object.metadata.name ?? "",
    message: describeStall(stall),
  }));
  const incident = findIncident(object);
  return {
    apiVersion,
    kind,
    metadata: { name: `notif-${nameHash(`${uid}/stalled/${stall.sinceMs}`)}`, namespace },
    spec: {
      eventType: "WorkStalled",
      severity: "warning",
      message: `The ${stage} cannot continue with ${what}: ${describeStall(stall)}`,
      context: { nextStep: `fix the cause of the error; the ${stage} retries by itself`, entries },
      ...(incident ? { remediationRequestRef: incident } : {}),
    },
  };
}

/** Returns the incident of an object, which can be the object itself. */
function findIncident(object: KubeObject): { name: string; namespace: string; uid: string } | undefined {
  if (object.kind === remediationRequests.kind) {
    const { name = "", namespace = "", uid = "" } = object.metadata;
    return { name, namespace, uid };
  }
  return (object as { readonly spec?: { remediationRequestRef?: { name: string; namespace: string; uid: string } } })
    .spec?.remediationRequestRef;
}

/** Returns the Kubernetes Event of a stall. */
export function stallEvent(type: ResourceType, object: KubeObject, stall: Stall, stage: string): KubeEvent {
  const { sinceMs, reason } = stall;
  const key = `stalled/${sinceMs}/${reason}`;
  const text = { type: "Warning", reason: "Stalled", message: describeStall(stall) } as const;
  return draftKubeEvent(type, object, { ...text, key, stage, atMs: sinceMs });
}
