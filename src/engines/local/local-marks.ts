import type { KubeClient } from "../../kube/index.ts";
import { annotationKeys, labelKeys } from "../../resources/index.ts";
import { type PipelineRun, pipelineRuns } from "../tekton/pipeline-run.ts";
import { listSteps } from "./logs.ts";

/** On runs that were started: keeps the object until nothing of the run is alive, so that its absence proves that. */
export const localFinalizer = "kubernaut.ai/local-processes";

/** Whether the run is one that the local engine carries out. */
export function isLocal({ metadata: { labels } }: PipelineRun): boolean {
  return labels?.[labelKeys.engine] === "local";
}

/** Selects the runs of the local engine. */
export const localRunsSelector = `${labelKeys.engine}=local`;

/** The folder that the run's workflow came from. */
export function workflowFolderName({ metadata: { annotations } }: PipelineRun): string {
  return annotations?.[annotationKeys.workflowFolder] ?? "";
}

interface LocalRunQuery {
  readonly run: { readonly kind: string; readonly name: string; readonly uid: string; readonly namespace: string };
  /** Where the local engine keeps its runs. */
  readonly dataDir: string;
}

/** Whether the local engine runs it. A run that is gone was local if its output is here. */
export async function isLocalRun(client: KubeClient, { run, dataDir }: LocalRunQuery): Promise<boolean> {
  if (run.kind === "Job") return false;
  const { name, namespace, uid } = run;
  const found = await client.get(pipelineRuns, { name, namespace }).catch(() => undefined);
  if (found?.metadata.uid === uid) return isLocal(found);
  return (await listSteps(dataDir, uid)).length > 0;
}
