import type { KubeClient } from "../../kube/index.ts";
import type { Workload } from "../../resources/index.ts";
import type { Engine } from "../engine.ts";
import { isServiceAccountMissing, listRunPods } from "../pods.ts";
import { digests, workload } from "../run-marks.ts";
import { pipelineRunFailure, type RunEvidence } from "./failure.ts";
import { pipelineRunFor } from "./manifest.ts";
import {
  listTaskRuns,
  type PipelineRun,
  pipelineRuns,
  succeededCondition,
  type TaskRun,
  tektonLabels,
} from "./pipeline-run.ts";
import { cancelPipelineRun, pipelineRunState, startPipelineRun } from "./state.ts";

/** Runs workflows as PipelineRuns of the cluster's Tekton. Tested with Tekton 1.0. */
export function tektonEngine(client: KubeClient): Engine {
  return {
    name: "tekton",
    runs: pipelineRuns,
    prepare: async (order) => ({ kind: "prepared", run: pipelineRunFor(order) }),
    stateOf: pipelineRunState,
    workloadOf: pipelineRunWorkload,
    readDigests: (run: PipelineRun, signal) => pipelineRunDigests(client, run, signal),
    start: startPipelineRun,
    cancel: cancelPipelineRun,
    readFailure: async (run: PipelineRun, signal) => pipelineRunFailure(run, await findEvidence(client, run, signal)),
  };
}

/** Returns the workload of a PipelineRun: the bundle with its pipeline. */
function pipelineRunWorkload({ spec }: PipelineRun): Workload {
  // An object that is not ours can have the name of a run, and then lack any field.
  const bundle = spec?.pipelineRef?.params?.find(({ name }) => name === "bundle")?.value;
  return workload("tekton", String(bundle ?? "unknown"), spec?.taskRunTemplate?.serviceAccountName);
}

/** Returns the digests of the bundle that Tekton resolved, and of the images of all steps that began. */
async function pipelineRunDigests(client: KubeClient, run: PipelineRun, signal?: AbortSignal) {
  const { uri, digest } = run.status?.provenance?.refSource ?? {};
  const bundle = uri && digest?.sha256 ? `${uri}@sha256:${digest.sha256}` : undefined;
  const tasks = await listTaskRuns(client, run, signal);
  const steps = (tasks ?? []).flatMap((task) => task.status?.steps ?? []);
  return digests([bundle, ...steps.map(({ imageID }) => imageID)]);
}

/** Reads the objects below a run. */
async function findEvidence(client: KubeClient, run: PipelineRun, signal?: AbortSignal): Promise<RunEvidence> {
  const { namespace = "" } = run.metadata;
  const [tasks, found] = await Promise.all([
    listTaskRuns(client, run, signal),
    listRunPods(client, { run, uidLabel: tektonLabels.pipelineRunUid, signal }),
  ]);
  const accounts = (tasks ?? []).filter(hasNoPod).map(({ spec }) => spec.serviceAccountName ?? "default");
  const missingServiceAccounts = new Set<string>();
  for (const name of new Set(accounts)) {
    if (await isServiceAccountMissing(client, { namespace, name }, signal)) missingServiceAccounts.add(name);
  }
  return { taskRuns: tasks, pods: found, missingServiceAccounts };
}

function hasNoPod({ status }: TaskRun): boolean {
  return succeededCondition(status)?.reason === "PodCreationFailed";
}
