import { deepFreeze } from "../../src/apiserver/json/json.ts";
import type { ObjectKey, ObjectStore, WriteDecision } from "../../src/apiserver/object-store.ts";
import type { KubeObject } from "../../src/kube/index.ts";

const resource = "workflowexecutions.kubernaut.ai";
const namespaces = 20;

/** The i-th object of the benchmark: a finished execution of about 1.5 KB. */
export function keyOf(i: number): ObjectKey {
  return { resource, namespace: `team-${i % namespaces}`, name: `wfe-${i.toString(36).padStart(12, "0")}` };
}

/** Makes the object and its text while deciding, as the API does, and resolves when it is durable. */
export function create(store: ObjectStore, i: number): Promise<number> {
  const key = keyOf(i);
  return store.write(key, (_, revision): WriteDecision<number> => {
    const object = sample(i, key, revision);
    return { do: "put", object, json: JSON.stringify(object), result: revision };
  });
}

/** What a client sends to create the i-th object: without what the server adds, or what others would clean up. */
export function body(i: number): string {
  const { apiVersion, kind, metadata, spec } = sample(i, keyOf(i), 0) as KubeObject & { readonly spec: object };
  const { name, namespace, labels } = metadata;
  return JSON.stringify({ apiVersion, kind, metadata: { name, namespace, labels }, spec });
}

export function sample(i: number, { namespace, name }: ObjectKey, revision: number): KubeObject {
  const target = `${namespace}/deployment/app-${i}`;
  const object = {
    apiVersion: "kubernaut.ai/v1alpha1",
    kind: "WorkflowExecution",
    metadata: {
      name,
      namespace,
      uid: `6f1c2a54-0000-4000-8000-${String(i).padStart(12, "0")}`,
      resourceVersion: String(revision),
      generation: 1,
      creationTimestamp: "2026-10-01T12:00:00Z",
      labels: { "kubernaut.ai/target-hash": `9q1g4v0m2c8e7d5b3a6f${i}`, app: "interlock" },
      finalizers: ["workflowexecution.kubernaut.ai/workflowexecution-cleanup"],
      ownerReferences: [
        {
          apiVersion: "kubernaut.ai/v1alpha1",
          kind: "RemediationRequest",
          name: `rr-9q1g4v0m-${i}`,
          uid: `0b7d4c1e-0000-4000-8000-${String(i).padStart(12, "0")}`,
          controller: true,
        },
      ],
    },
    spec: {
      workflowRef: {
        workflowId: "restart-deployment",
        version: "1.4.2",
        containerImage: `registry.example.com/workflows/restart@sha256:${"4f".repeat(32)}`,
        engine: "tekton",
        serviceAccountName: "kubernaut-workflow-runner",
      },
      targetResource: target,
      parameters: { NAMESPACE: namespace, DEPLOYMENT: `app-${i}`, REASON: "KubePodCrashLooping", TIMEOUT: "5m" },
    },
    status: {
      phase: "Completed",
      outcome: "Success",
      startTime: "2026-10-01T12:00:01.125Z",
      completionTime: "2026-10-01T12:02:31.125Z",
      duration: "2m30s",
      pipelineRunRef: { name: `wfe-${i}`, namespace: "kubernaut-workflows", uid: `run-${i}`, kind: "PipelineRun" },
      conditions: [
        {
          type: "Complete",
          status: "True",
          reason: "Succeeded",
          message: `the workflow restart-deployment ended on ${target} after 3 of 3 tasks`,
          lastTransitionTime: "2026-10-01T12:02:31Z",
        },
      ],
    },
  };
  return deepFreeze(object);
}
