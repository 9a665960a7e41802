import type { KubeClient } from "../../kube/index.ts";
import type { Engine } from "../engine.ts";
import { isServiceAccountMissing } from "../service-account.ts";
import { type JobEvidence, jobFailure, neverHadPod } from "./failure.ts";
import { type Job, jobs } from "./job.ts";
import { podsOfJob } from "./job-pods.ts";
import { jobFor } from "./manifest.ts";
import { cancelJob, jobState, startJob, wasCancelled } from "./state.ts";
import { jobDigests, jobWorkload } from "./workload.ts";

/** Runs workflows as Kubernetes Jobs: one image, one pod, one try. Needs Kubernetes 1.29 or later. */
export function jobEngine(client: KubeClient): Engine {
  return {
    name: "job",
    runs: jobs,
    prepare: async (order) => ({ kind: "prepared", run: jobFor(order) }),
    stateOf: (run) => jobState(run as Job),
    workloadOf: (run) => jobWorkload(run as Job),
    digestsOf: (run, signal) => jobDigests(client, run as Job, signal),
    start: (run) => startJob(run as Job),
    cancel: (run) => cancelJob(run as Job),
    async failureOf(run, signal) {
      return jobFailure(run as Job, await findEvidence(client, run as Job, signal));
    },
  };
}

async function findEvidence(client: KubeClient, job: Job, signal?: AbortSignal): Promise<JobEvidence> {
  const { namespace = "" } = job.metadata;
  const found = await podsOfJob(client, job, signal);
  const name = job.spec.template.spec.serviceAccountName ?? "default";
  const suspicious = neverHadPod(job) && !found?.length && !wasCancelled(job);
  const serviceAccountMissing = suspicious && (await isServiceAccountMissing(client, { namespace, name }, signal));
  return { pods: found, serviceAccountMissing };
}
