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
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

const nodeSource = "kubernetes-nodes";

/** Conditions that become signals, with the status in which nothing fires. */
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
    // When a kubelet stops reporting, all conditions become Unknown: only Ready is evidence of a problem then.
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
  // Ready is Unknown while the kubelet does not report, which fires, too.
  return condition.status === status
    ? { status: "resolved", ...common, endedAt: changedAt }
    : { status: "firing", ...common };
}
