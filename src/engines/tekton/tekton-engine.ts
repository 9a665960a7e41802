import type { KubeClient } from "../../kube/index.ts";
import type { Engine } from "../engine.ts";
import { pipelineRunFailure } from "./failure.ts";
import { findEvidence } from "./find-evidence.ts";
import { pipelineRunFor } from "./manifest.ts";
import { type PipelineRun, pipelineRuns } from "./pipeline-run.ts";
import { cancelPipelineRun, pipelineRunState, startPipelineRun } from "./state.ts";
import { pipelineRunDigests, pipelineRunWorkload } from "./workload.ts";

/** Runs workflows as PipelineRuns of a Tekton in the cluster. Seen with Tekton 1.0. */
export function tektonEngine(client: KubeClient): Engine {
  return {
    name: "tekton",
    runs: pipelineRuns,
    prepare: async (order) => ({ kind: "prepared", run: pipelineRunFor(order) }),
    stateOf: (run) => pipelineRunState(run as PipelineRun),
    workloadOf: (run) => pipelineRunWorkload(run as PipelineRun),
    digestsOf: (run, signal) => pipelineRunDigests(client, run as PipelineRun, signal),
    start: (run) => startPipelineRun(run as PipelineRun),
    cancel: (run) => cancelPipelineRun(run as PipelineRun),
    async failureOf(run, signal) {
      return pipelineRunFailure(run as PipelineRun, await findEvidence(client, run as PipelineRun, signal));
    },
  };
}
