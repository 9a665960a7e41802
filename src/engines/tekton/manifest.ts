import type { Engine } from "../../resources/index.ts";
import { formatDuration } from "../../time/index.ts";
import type { RunOrder } from "../engine.ts";
import { podSecurity } from "../pods.ts";
import { runInputs, runMetadata } from "../run-marks.ts";
import { type Param, type PipelineRun, pipelineRuns } from "./pipeline-run.ts";

/** Returns the suspended PipelineRun for an order. Its pipeline comes from an OCI bundle. */
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

/** Returns a suspended PipelineRun with this pipeline. */
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
      // For Tekton, 0 means no limit; every order has one.
      timeouts: { pipeline: formatDuration(Math.max(1, order.timeoutMs)) },
    },
  };
}

/**
 * Returns the inputs of the workflow as texts and lists of texts, the types of Tekton. A pipeline ignores parameters that it does
 * not declare, so every run can have its target.
 */
function pipelineParams(order: RunOrder): Param[] {
  return Object.entries(runInputs(order)).map(([name, value]) => {
    return { name, value: typeof value === "object" ? value : String(value) };
  });
}
