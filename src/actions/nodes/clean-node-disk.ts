import { type ActionInputs, type Decision, defineAction, done, refuse, wait, write } from "../action.ts";
import { isFinished, pods, podText } from "../pods/pod.ts";
import { type NodeSnapshot, observeNode } from "./node.ts";

const minute = 60_000;

export const cleanNodeDisk = defineAction<NodeSnapshot>({
  name: "clean-node-disk",
  version: "1.0.0",
  description:
    "Removes finished pods from a node, with their logs, emptyDir volumes and writable layers; the kubelet then also removes images that no pod uses.",
  verification: "no such pod is left and the node does not report disk pressure",
  targetKinds: ["node"],
  parameters: {
    minMinutes: {
      type: "integer",
      default: 60,
      minimum: 0,
      maximum: 10_080,
      description: "Only pods that were created at least so many minutes ago, so that their logs can be collected.",
    },
  },
  rights: [
    { group: "", resource: "nodes", verbs: ["get"], where: "cluster" },
    { group: "", resource: "pods", verbs: ["list", "delete"], where: "everywhere" },
  ],
  alerts: ["NodeFilesystemSpaceFillingUp", "NodeFilesystemAlmostOutOfSpace", "NodeFilesystemFilesFillingUp"],
  cooldown: "30m",
  observe: observeNode,
  decide,
});

function decide({ target: node, pods: all }: NodeSnapshot, { target, parameters, nowMs }: ActionInputs): Decision {
  if (!node) return refuse(`${target.text} does not exist`);
  const beforeMs = nowMs - Number(parameters["minMinutes"]) * minute;
  const old = all.filter((pod) => isFinished(pod) && Date.parse(pod.metadata.creationTimestamp ?? "") <= beforeMs);
  const removable = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (removable.length > 0) {
    return write(
      ...removable.map((pod) => {
        return { do: "delete", type: pods, observed: pod, text: `remove the finished ${podText(pod)}` } as const;
      }),
    );
  }
  if (old.length > 0) return wait(`${old.length} finished pods are being removed`);
  const pressure = node.status?.conditions?.find(({ type }) => type === "DiskPressure");
  if (pressure?.status === "True") return wait(`${target.text} reports disk pressure`);
  return done(`${target.text} has no finished pods and no disk pressure`);
}
