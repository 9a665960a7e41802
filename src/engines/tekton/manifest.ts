import type { ParameterValue } from "../../resources/index.ts";
import { formatDuration } from "../../time/index.ts";
import type { RunOrder } from "../engine.ts";
import { runInputs, runMetadata } from "../run-marks.ts";
import { type Param, type PipelineRun, pipelineRuns } from "./pipeline-run.ts";

/** The PipelineRun for an order: its pipeline comes from an OCI bundle, and it waits to be started. */
export function pipelineRunFor(order: RunOrder): PipelineRun {
  const { containerImage, pipeline, serviceAccountName } = order.workflow;
  return {
    apiVersion: pipelineRuns.apiVersion,
    kind: pipelineRuns.kind,
    metadata: runMetadata(order, "tekton"),
    spec: {
      status: "PipelineRunPending",
      pipelineRef: {
        resolver: "bundles",
        params: [
          { name: "bundle", value: containerImage },
          { name: "name", value: pipeline },
          { name: "kind", value: "pipeline" },
        ],
      },
      params: pipelineParams(order),
      taskRunTemplate: {
        ...(serviceAccountName && { serviceAccountName }),
        podTemplate: { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } },
      },
      timeouts: { pipeline: pipelineTimeout(order.timeoutMs) },
    },
  };
}

/**
 * Everything as Tekton takes it: texts and lists of texts. A pipeline ignores parameters that it does not declare, so
 * that every run can be given its target; one that it declares and is not given ends the run before anything starts.
 */
export function pipelineParams(order: RunOrder): Param[] {
  return Object.entries(runInputs(order)).map(([name, value]) => ({ name, value: paramValue(value) }));
}

/** To Tekton 0 means no limit, which is never ordered. */
export function pipelineTimeout(timeoutMs: number): string {
  return formatDuration(Math.max(1, timeoutMs));
}

function paramValue(value: ParameterValue): string | readonly string[] {
  return typeof value === "object" ? value : String(value);
}
