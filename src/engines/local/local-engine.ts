import { type KubeClient, type KubeObject, type Patch, patchAtVersion } from "../../kube/index.ts";
import { annotationKeys } from "../../resources/index.ts";
import type { Engine, PreparedRun, RunOrder } from "../engine.ts";
import { workload } from "../run-marks.ts";
import { suspendedRun } from "../tekton/manifest.ts";
import type { Param, PipelineRun } from "../tekton/pipeline-run.ts";
import { tektonEngine } from "../tekton/tekton-engine.ts";
import { localFinalizer, workflowFolderName } from "./local-marks.ts";
import type { PipelineSpec } from "./pipeline/spec.ts";
import { hasRealTekton } from "./real-tekton.ts";
import { readWorkflowPipeline, runsAction } from "./workflow-pipeline.ts";

export interface LocalEngineOptions {
  readonly client: KubeClient;
  /** The directory with the folders of workflows. */
  readonly workflowsRoot: string;
  /** Whether steps get a KUBECONFIG, which ready-made actions need. */
  readonly stepsHaveKubeconfig: boolean;
}

/**
 * Runs workflows as processes of this machine. A run is a PipelineRun that contains its whole pipeline, so all code that reads
 * and controls Tekton's runs works with it. A `LocalRunner` executes the runs.
 */
export function localEngine(options: LocalEngineOptions): Engine {
  const { client } = options;
  return {
    ...tektonEngine(client),
    name: "local",
    async prepare(order, signal) {
      if (await hasRealTekton(client, signal)) {
        return refuse("the engine local cannot be used where Tekton is installed; use the engine tekton");
      }
      return await prepareRun(order, options);
    },
    workloadOf: (run) => workload("local", workflowFolderName(run as PipelineRun), undefined),
    // No image is pulled.
    readDigests: async () => [],
    start: startLocalRun,
  };
}

async function prepareRun(
  order: RunOrder,
  { workflowsRoot, stepsHaveKubeconfig }: LocalEngineOptions,
): Promise<PreparedRun> {
  const read = await readWorkflowPipeline(workflowsRoot, order.workflow.containerImage);
  if (read.kind === "refused") {
    return refuse(read.problems.map(({ file, problem }) => (file ? `${file}: ${problem}` : problem)).join("\n"));
  }
  if (!stepsHaveKubeconfig && runsAction(read.pipeline)) {
    return refuse(
      "it acts on a cluster, and none is configured: set execution.localKubeconfig (or LOCAL_KUBECONFIG), then restart",
    );
  }
  const run = suspendedRun(order, "local", { pipelineSpec: read.pipeline });
  const unfit = paramProblems(read.pipeline, run.spec.params ?? []);
  if (unfit.length > 0) return refuse(unfit.map((problem) => `${read.file}: ${problem}`).join("\n"));
  const annotations = {
    ...run.metadata.annotations,
    [annotationKeys.workflowFolder]: order.workflow.containerImage,
    [annotationKeys.secretParameters]: order.secretParameters.join(","),
  };
  return { kind: "prepared", run: { ...run, metadata: { ...run.metadata, annotations } } };
}

/** Starts a run as with Tekton, and adds the finalizer in the same write: from then on the run may have processes. */
function startLocalRun(run: KubeObject): Patch {
  const finalizers = new Set(run.metadata.finalizers).add(localFinalizer);
  return patchAtVersion(run, { metadata: { finalizers: [...finalizers] }, spec: { status: null } });
}

function paramProblems({ params: declared = [] }: PipelineSpec, given: readonly Param[]): readonly string[] {
  return declared.flatMap(({ name, type = "string", default: standard, enum: allowed }, index) => {
    const value = given.find((param) => param.name === name)?.value ?? standard;
    const path = `spec.params[${index}]`;
    if (value === undefined) return [`${path}: ${name} is missing; give it a default, or declare it in workflow.yaml`];
    if (typeof value === "string" ? type === "array" : type !== "array")
      return [`${path}: ${name} must be of type ${type}`];
    const isAllowed = !allowed || typeof value !== "string" || allowed.includes(value);
    return isAllowed ? [] : [`${path}: ${name} must be one of ${allowed.join(", ")}`];
  });
}

function refuse(message: string): PreparedRun {
  return { kind: "refused", reason: "ConfigurationError", message };
}
