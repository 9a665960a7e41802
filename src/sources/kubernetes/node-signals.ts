import type { KubeObject } from "../../kube/index.ts";
import { type Signal, signalTime } from "../../resources/index.ts";
import { limitTexts } from "../limit-texts.ts";

/** The fields of a Node that are read. */
export interface WatchedNode extends KubeObject {
  readonly status?: { readonly conditions?: readonly NodeCondition[] };
}

interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

const nodeSource = "kubernetes-nodes";

/** Conditions that mean trouble, and the status in which they do not. */
const healthy: Readonly<Record<string, { readonly status: "True" | "False"; readonly name: string }>> = {
  Ready: { status: "True", name: "NodeNotReady" },
  MemoryPressure: { status: "False", name: "NodeMemoryPressure" },
  DiskPressure: { status: "False", name: "NodeDiskPressure" },
  PIDPressure: { status: "False", name: "NodePIDPressure" },
  NetworkUnavailable: { status: "False", name: "NodeNetworkUnavailable" },
};

/** Returns a signal for each known condition of a node: firing, or resolved. */
export function toNodeSignals(node: WatchedNode, receivedAt: string): readonly Signal[] {
  return (node.status?.conditions ?? []).flatMap((condition) => {
    const expected = Object.hasOwn(healthy, condition.type) ? healthy[condition.type] : undefined;
    // When a kubelet stops reporting, all conditions become Unknown: the node is not ready, and its disk is not known to be full.
    if (!expected || (condition.status === "Unknown" && condition.type !== "Ready")) return [];
    return [toConditionSignal(node, condition, { ...expected, receivedAt })];
  });
}

function toConditionSignal(
  { metadata }: WatchedNode,
  condition: NodeCondition,
  { status, name, receivedAt }: { readonly status: string; readonly name: string; readonly receivedAt: string },
): Signal {
  const changedAt = signalTime(condition.lastTransitionTime) ?? receivedAt;
  const common = {
    source: nodeSource,
    name,
    severity: condition.type === "Ready" ? "critical" : "warning",
    subject: { kind: "Node", name: metadata.name ?? "" },
    series: `${metadata.name}/${condition.type}`,
    labels: {},
    annotations: condition.message ? limitTexts({ message: condition.message }) : {},
    firingAt: changedAt,
    payload: condition,
  };
  // Ready is also not True when it is Unknown: the kubelet does not report.
  return condition.status === status
    ? { status: "resolved", ...common, endedAt: changedAt }
    : { status: "firing", ...common };
}
