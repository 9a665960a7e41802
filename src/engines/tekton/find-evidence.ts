import type { KubeClient } from "../../kube/index.ts";
import { pods } from "../pods.ts";
import { listIfReadable } from "../readable.ts";
import { isServiceAccountMissing } from "../service-account.ts";
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
    if (await isServiceAccountMissing(client, { namespace, name }, signal)) missingServiceAccounts.add(name);
  }
  return { taskRuns: tasks, pods: containers, missingServiceAccounts };
}

function hasNoPod({ status }: TaskRun): boolean {
  return succeededCondition(status)?.reason === "PodCreationFailed";
}
