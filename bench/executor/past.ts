import { deepFreeze } from "../../src/apiserver/json/json.ts";
import type { ObjectStore, WriteDecision } from "../../src/apiserver/object-store.ts";

/** Puts the i-th execution that is long over into the store, as the executor leaves them. */
export function putPast(store: ObjectStore, i: number, target: string, targetHash: string): Promise<number> {
  const name = `past-${i}`;
  const key = { resource: "workflowexecutions.kubernaut.ai", namespace: "default", name };
  return store.write(key, (_, revision): WriteDecision<number> => {
    const object = deepFreeze(pastExecution({ name, i, revision, target, targetHash }));
    return { do: "put", object, json: JSON.stringify(object), result: revision };
  });
}

interface Past {
  readonly name: string;
  readonly i: number;
  readonly revision: number;
  readonly target: string;
  readonly targetHash: string;
}

function pastExecution({ name, i, revision, target, targetHash }: Past) {
  const at = new Date(1_700_000_000_000 + i * 1_000).toISOString();
  const condition = { type: "Recorded", status: "True", lastTransitionTime: at, reason: "Failed", message: "" };
  return {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "WorkflowExecution",
    metadata: {
      name,
      namespace: "default",
      uid: `uid-${i}`,
      resourceVersion: String(revision),
      generation: 1,
      creationTimestamp: "2023-11-14T22:13:20Z",
      labels: { "kubernaut.ai/target-hash": targetHash, "kubernaut.ai/workflow-id": "cleanup" },
      finalizers: ["workflowexecution.kubernaut.ai/workflowexecution-cleanup"],
    },
    spec: {
      workflowRef: { workflowId: "cleanup", containerImage: "registry.invalid/cleanup:1" },
      targetResource: target,
    },
    status: {
      phase: "Failed",
      completionTime: at,
      outcome: "Failed",
      failureDetails: {
        reason: "TaskRunFailed",
        message: "the task failed",
        failedAt: at,
        naturalLanguageSummary: "the task failed",
        wasExecutionFailure: true,
        requiresManualReview: true,
      },
      conditions: [condition],
    },
  };
}
