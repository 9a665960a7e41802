import type { KubeClient } from "../../kube/index.ts";
import type { Workload } from "../../resources/index.ts";
import { listIfReadable } from "../readable.ts";
import { digests, workload } from "../workload.ts";
import { type PipelineRun, taskRuns, tektonLabels } from "./pipeline-run.ts";

/** What a PipelineRun executes: the bundle that its pipeline comes from. */
export function pipelineRunWorkload({ spec }: PipelineRun): Workload {
  // An object that is not ours may have the name of a run and lack any field.
  const bundle = spec?.pipelineRef?.params?.find(({ name }) => name === "bundle")?.value;
  return workload("tekton", String(bundle ?? "unknown"), spec?.taskRunTemplate?.serviceAccountName);
}

/** The bundle as Tekton resolved it, and the image of every step that began. */
export async function pipelineRunDigests(
  client: KubeClient,
  { metadata: { namespace = "", uid }, status }: PipelineRun,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const { uri, digest } = status?.provenance?.refSource ?? {};
  const bundle = uri && digest?.sha256 ? `${uri}@sha256:${digest.sha256}` : undefined;
  const labelSelector = `${tektonLabels.pipelineRunUid}=${uid}`;
  const tasks = await listIfReadable(client, taskRuns, { namespace, labelSelector, signal });
  const steps = (tasks ?? []).flatMap((task) => task.status?.steps ?? []);
  return digests([bundle, ...steps.map(({ imageID }) => imageID)]);
}
