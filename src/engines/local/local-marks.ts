import type { KubeClient } from "../../kube/index.ts";
import { annotationKeys, labelKeys } from "../../resources/index.ts";
import { type PipelineRun, pipelineRuns } from "../tekton/pipeline-run.ts";
import { listSteps } from "./logs.ts";

/** Keeps the object of a started run while the run has processes: a run that does not exist has none. */
export const localFinalizer = "kubernaut.ai/local-processes";

/** Whether the local engine executes the run. */
export function isLocal({ metadata: { labels } }: PipelineRun): boolean {
  return labels?.[labelKeys.engine] === "local";
}

/** Selects the runs of the local engine. */
export const localRunsSelector = `${labelKeys.engine}=local`;

/** Returns the name of the folder of the run's workflow. */
export function workflowFolderName({ metadata: { annotations } }: PipelineRun): string {
  return annotations?.[annotationKeys.workflowFolder] ?? "";
}

/** Returns the names of parameters that the catalog declares as secret. */
export function secretParameters({ metadata: { annotations } }: PipelineRun): readonly string[] {
  return (annotations?.[annotationKeys.secretParameters] ?? "").split(",");
}

interface LocalRunQuery {
  readonly run: { readonly kind: string; readonly name: string; readonly uid: string; readonly namespace: string };
  /** The data directory of the local engine. */
  readonly dataDir: string;
}

/** Whether the local engine executes the run. A deleted run was local if its output is in the data directory. */
export async function isLocalRun(client: KubeClient, { run, dataDir }: LocalRunQuery): Promise<boolean> {
  if (run.kind === "Job") return false;
  const { name, namespace, uid } = run;
  const found = await client.get(pipelineRuns, { name, namespace }).catch(() => undefined);
  if (found?.metadata.uid === uid) return isLocal(found);
  return (await listSteps(dataDir, uid)).length > 0;
}
