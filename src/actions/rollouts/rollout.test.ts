import { describe, expect, it } from "vitest";
import { type Rollout, rolloutState } from "./rollout.ts";

const complete = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

describe("a rollout", () => {
  it.each<[string, string, string, Rollout["status"]]>([
    ["deployment", "complete", "every replica is updated and available", complete],
    ["deployment", "progressing", "its controller has not seen the change", { ...complete, observedGeneration: 1 }],
    ["deployment", "progressing", "a replica is not updated", { ...complete, updatedReplicas: 1 }],
    ["deployment", "progressing", "an old replica is left", { ...complete, replicas: 3 }],
    ["deployment", "progressing", "a replica is not available", { ...complete, availableReplicas: 1 }],
    ["deployment", "progressing", "it has no status", undefined],
    [
      "deployment",
      "stuck",
      "it exceeded its deadline",
      { ...complete, conditions: [{ type: "Progressing", status: "False", reason: "ProgressDeadlineExceeded" }] },
    ],
    ["statefulset", "complete", "every replica is ready", { ...complete, currentRevision: "a", updateRevision: "a" }],
    ["statefulset", "progressing", "a replica is not ready", { ...complete, readyReplicas: 1 }],
    [
      "statefulset",
      "progressing",
      "a replica has the old revision",
      { ...complete, currentRevision: "a", updateRevision: "b" },
    ],
    ["daemonset", "complete", "every node has it", daemonSet(3, 3)],
    ["daemonset", "progressing", "a pod is not updated", daemonSet(2, 3)],
    ["daemonset", "progressing", "a pod is not available", daemonSet(3, 2)],
  ])("of a %s is %s when %s", (kind, state, _when, status) => {
    const rollout: Rollout = {
      metadata: { name: "web", generation: 2 },
      spec: { replicas: 2, template: {} },
      ...(status && { status }),
    };

    expect(rolloutState(kind, rollout).kind).toBe(state);
  });
});

function daemonSet(updated: number, available: number): Rollout["status"] {
  const numbers = { desiredNumberScheduled: 3, updatedNumberScheduled: updated, numberAvailable: available };
  return { observedGeneration: 2, ...numbers };
}
