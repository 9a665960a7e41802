import { type KubeClient, KubeError, type KubeObject, type ResourceType } from "../../kube/index.ts";
import { pods } from "../pods.ts";
import { listIfReadable } from "../readable.ts";
import type { RunEvidence } from "./failure.ts";
import { type PipelineRun, succeededCondition, type TaskRun, taskRuns, tektonLabels } from "./pipeline-run.ts";

/** Reads what there is below a run. Throws only if the API server does not answer. */
export async function findEvidence(
  client: KubeClient,
  { metadata: { namespace = "", uid } }: PipelineRun,
  signal?: AbortSignal,
): Promise<RunEvidence> {
  const query = { namespace, labelSelector: `${tektonLabels.pipelineRunUid}=${uid}`, signal };
  const [tasks, containers] = await Promise.all([
    listIfReadable(client, taskRuns, query),
    listIfReadable(client, pods, query),
  ]);
  const accounts = (tasks ?? []).filter(hasNoPod).map(({ spec }) => spec.serviceAccountName ?? "default");
  const missingServiceAccounts = new Set<string>();
  for (const name of new Set(accounts)) {
    if (await isMissing(client, { namespace, name }, signal)) missingServiceAccounts.add(name);
  }
  return { taskRuns: tasks, pods: containers, missingServiceAccounts };
}

/** Why a pod could not be made is told in a sentence alone, so we look for the usual cause ourselves. */
function hasNoPod({ status }: TaskRun): boolean {
  return succeededCondition(status)?.reason === "PodCreationFailed";
}

const serviceAccounts: ResourceType<KubeObject> = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  plural: "serviceaccounts",
  namespaced: true,
};

async function isMissing(client: KubeClient, ref: { namespace: string; name: string }, signal?: AbortSignal) {
  try {
    return (await client.get(serviceAccounts, ref, signal && { signal })) === undefined;
  } catch (error) {
    if (error instanceof KubeError && error.code === "forbidden") return false;
    throw error;
  }
}
