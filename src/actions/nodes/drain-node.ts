import { labelKeys, targetHash } from "../../resources/index.ts";
import { type ActionInputs, type Decision, defineAction, done, refuse, wait, write } from "../action.ts";
import { isFinished, type ObservedPod, podController, podText } from "../pods/pod.ts";
import { cordonWrite, type NodeSnapshot, observeNode } from "./node.ts";

export const drainNode = defineAction<NodeSnapshot>({
  name: "drain-node",
  version: "1.0.0",
  description: "Cordons a node and evicts its pods, as their disruption budgets allow. Pods of DaemonSets stay.",
  verification: "the node is unschedulable and no pod is left that could run elsewhere",
  targetKinds: ["node"],
  parameters: {
    deleteEmptyDirData: {
      type: "boolean",
      default: false,
      description: "Evict pods with emptyDir volumes, whose data is lost. Otherwise the action refuses such a node.",
    },
  },
  rights: [
    { group: "", resource: "nodes", verbs: ["get", "update"], where: "cluster" },
    { group: "", resource: "pods", verbs: ["list"], where: "everywhere" },
    { group: "", resource: "pods/eviction", verbs: ["create"], where: "everywhere" },
  ],
  alerts: ["NodeRAIDDegraded", "NodeRAIDDiskFailure"],
  cooldown: "1h",
  observe: observeNode,
  decide,
});

function decide({ target: node, pods }: NodeSnapshot, { target, executionUid, parameters }: ActionInputs): Decision {
  if (!node) return refuse(`${target.text} does not exist`);
  const own = targetHash(target);
  const movable = pods.filter((pod) => !staysOnNode(pod) && pod.metadata.labels?.[labelKeys.targetHash] !== own);
  // Everything that forbids the drain is checked before the first write.
  const bare = movable.filter((pod) => !podController(pod));
  if (bare.length > 0) return refuse(`${podList(bare)} would not be replaced elsewhere: no controller owns it`);
  const withData = movable.filter(({ spec }) => spec?.volumes?.some(({ emptyDir }) => emptyDir));
  if (withData.length > 0 && parameters["deleteEmptyDirData"] !== true) {
    return refuse(`${podList(withData)} would lose the data of its emptyDir volumes: set deleteEmptyDirData`);
  }
  const leaving = movable.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const evictions = movable
    .filter((pod) => !leaving.includes(pod))
    .map((pod) => ({ do: "evict", observed: pod, text: `evict ${podText(pod)} from ${target.text}` }) as const);
  const cordon = node.spec?.unschedulable ? [] : [cordonWrite(node, target, executionUid)];
  if (cordon.length + evictions.length > 0) return write(...cordon, ...evictions);
  if (leaving.length > 0) return wait(`${leaving.length} pods are terminating on ${target.text}`);
  return done(`${target.text} is drained`);
}

/** Static pods and pods of DaemonSets belong to the node; finished pods disrupt nothing. */
function staysOnNode(pod: ObservedPod): boolean {
  const isStatic = pod.metadata.annotations?.["kubernetes.io/config.mirror"] !== undefined;
  return isStatic || podController(pod)?.kind === "DaemonSet" || isFinished(pod);
}

function podList(all: readonly ObservedPod[]): string {
  const names = all.slice(0, 3).map(podText).join(", ");
  return all.length > 3 ? `${names} and ${all.length - 3} more` : names;
}
