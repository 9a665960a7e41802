import { annotationKeys, labelKeys } from "../../resources/index.ts";
import type { PipelineRun } from "../tekton/pipeline-run.ts";

/** On runs that were started: keeps the object until nothing of the run is alive, so that its absence proves that. */
export const localFinalizer = "kubernaut.ai/local-processes";

/** Whether the run is one that the local engine carries out. */
export function isLocal({ metadata: { labels } }: PipelineRun): boolean {
  return labels?.[labelKeys.engine] === "local";
}

/** Selects the runs of the local engine. */
export const localRunsSelector = `${labelKeys.engine}=local`;

/** The folder that the run's workflow came from. */
export function workflowFolderOf({ metadata: { annotations } }: PipelineRun): string {
  return annotations?.[annotationKeys.workflowFolder] ?? "";
}
