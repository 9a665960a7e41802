import { iso, type KubeEvent, type KubeObject, nameHash, type ResourceType } from "../kube/index.ts";
import { describeStall, type Stall } from "../resources/index.ts";

/** The Kubernetes Event of a stall. Its name follows from the stall, so it is written once. */
export function stallEvent(type: ResourceType, object: KubeObject, stall: Stall, stage: string): KubeEvent {
  const { name = "", namespace = "", uid = "" } = object.metadata;
  const at = iso(stall.sinceMs);
  const hash = nameHash(`${uid}/stalled/${stall.sinceMs}/${stall.reason}`).slice(0, 16);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name.slice(0, 180)}.${hash}`, namespace },
    involvedObject: { apiVersion: type.apiVersion, kind: type.kind, name, namespace, uid },
    type: "Warning",
    reason: "Stalled",
    message: describeStall(stall).slice(0, 1_000),
    source: { component: `interlock-${stage}` },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}
