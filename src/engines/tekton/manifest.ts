import type { Engine, ParameterValue } from "../../resources/index.ts";
import { formatDuration } from "../../time/index.ts";
import type { RunOrder } from "../engine.ts";
import { podSecurity } from "../pods.ts";
import { runInputs, runMetadata } from "../run-marks.ts";
import { type Param, type PipelineRun, pipelineRuns } from "./pipeline-run.ts";

/** The PipelineRun for an order: its pipeline comes from an OCI bundle, and it waits to be started. */
export function pipelineRunFor(order: RunOrder): PipelineRun {
  const { containerImage, pipeline, serviceAccountName } = order.workflow;
  return suspendedRun(order, "tekton", {
    pipelineRef: {
      resolver: "bundles",
      params: [
        { name: "bundle", value: containerImage },
        { name: "name", value: pipeline },
        { name: "kind", value: "pipeline" },
      ],
    },
    taskRunTemplate: {
      ...(serviceAccountName && { serviceAccountName }),
      podTemplate: { securityContext: podSecurity },
    },
  });
}

/** A PipelineRun that waits to be started, with this pipeline. */
export function suspendedRun(
  order: RunOrder,
  engine: Engine,
  pipeline: Pick<PipelineRun["spec"], "pipelineRef" | "pipelineSpec" | "taskRunTemplate">,
): PipelineRun {
  return {
    apiVersion: pipelineRuns.apiVersion,
    kind: pipelineRuns.kind,
    metadata: runMetadata(order, engine),
    spec: {
      status: "PipelineRunPending",
      ...pipeline,
      params: pipelineParams(order),
      // To Tekton 0 means no limit, which is never ordered.
      timeouts: { pipeline: formatDuration(Math.max(1, order.timeoutMs)) },
    },
  };
}

/**
 * Everything as Tekton takes it: texts and lists of texts. A pipeline ignores parameters that it does not declare, so
 * that every run can be given its target; one that it declares and is not given ends the run before anything starts.
 */
function pipelineParams(order: RunOrder): Param[] {
  return Object.entries(runInputs(order)).map(([name, value]) => ({ name, value: paramValue(value) }));
}

function paramValue(value: ParameterValue): string | readonly string[] {
  return typeof value === "object" ? value : String(value);
}
