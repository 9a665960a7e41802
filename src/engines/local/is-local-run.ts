import type { KubeClient } from "../../kube/index.ts";
import { labelKeys } from "../../resources/index.ts";
import { pipelineRuns } from "../tekton/pipeline-run.ts";
import { listSteps } from "./logs.ts";

export interface LocalRunQuery {
  readonly run: { readonly kind: string; readonly name: string; readonly uid: string; readonly namespace: string };
  /** Where the local engine keeps its runs. */
  readonly dataDir: string;
}

/** Whether the local engine runs it. A run that is gone was local if its output is here. */
export async function isLocalRun(client: KubeClient, { run, dataDir }: LocalRunQuery): Promise<boolean> {
  if (run.kind === "Job") return false;
  const { name, namespace, uid } = run;
  const found = await client.get(pipelineRuns, { name, namespace }).catch(() => undefined);
  if (found?.metadata.uid === uid) return found.metadata.labels?.[labelKeys.engine] === "local";
  return (await listSteps(dataDir, uid)).length > 0;
}
