import { type ActionInputs, type Decision, defineAction, done, refuse, wait, write } from "../action.ts";
import { observeTarget, type TargetSnapshot, targetType } from "../target-object.ts";
import { type ObservedPod, podController } from "./pod.ts";

const minute = 60_000;

export const deleteStuckPod = defineAction<TargetSnapshot<ObservedPod>>({
  name: "delete-stuck-pod",
  version: "1.0.0",
  description:
    "Evicts a pod that has not been ready for some time, so that its controller replaces it. With force, removes a pod that does not end.",
  verification: "the pod is gone, or is no longer stuck",
  targetKinds: ["pod"],
  parameters: {
    minMinutes: {
      type: "integer",
      default: 10,
      minimum: 1,
      maximum: 1_440,
      description: "A pod is stuck if it has not been ready, or has been terminating, for so many minutes.",
    },
    force: {
      type: "boolean",
      default: false,
      description: "Remove a pod that has been terminating for too long without waiting for its processes.",
    },
  },
  rights: [
    { group: "", resource: "pods", verbs: ["get", "delete"], where: "target" },
    { group: "", resource: "pods/eviction", verbs: ["create"], where: "target" },
  ],
  alerts: ["KubePodNotReady", "KubeContainerWaiting"],
  cooldown: "15m",
  observe: observeTarget,
  decide,
});

function decide({ target: pod }: TargetSnapshot<ObservedPod>, { target, parameters, nowMs }: ActionInputs): Decision {
  if (!pod) return done(`${target.text} is gone`);
  const minMinutes = Number(parameters["minMinutes"]);
  const sinceMs = stuckSinceMs(pod);
  if (sinceMs === undefined) return done(`${target.text} is ready`);
  const isStuck = nowMs - sinceMs >= minMinutes * minute;
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (!isStuck) return wait(`${target.text} is terminating`);
    if (parameters["force"] !== true) {
      return refuse(`${target.text} has been terminating for ${minMinutes} minutes or more: set force to remove it`);
    }
    const text = `remove ${target.text} without waiting for its processes`;
    return write({ do: "delete", type: targetType(target), observed: pod, force: true, text });
  }
  if (!isStuck) return done(`${target.text} has been stuck for less than ${minMinutes} minutes`);
  if (!podController(pod)) return refuse(`${target.text} has no controller that would replace it`);
  return write({ do: "evict", observed: pod, text: `evict ${target.text}` });
}

/** Since when the pod has been terminating, or else not ready; undefined for a pod that is ready or has succeeded. */
function stuckSinceMs({ metadata, status }: ObservedPod): number | undefined {
  if (metadata.deletionTimestamp !== undefined) return Date.parse(metadata.deletionTimestamp);
  if (status?.phase === "Succeeded") return undefined;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status === "True") return undefined;
  return Date.parse(ready?.lastTransitionTime ?? metadata.creationTimestamp ?? "");
}
