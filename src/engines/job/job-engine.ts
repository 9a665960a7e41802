import type { KubeClient } from "../../kube/index.ts";
import type { Workload } from "../../resources/index.ts";
import type { Engine } from "../engine.ts";
import { isServiceAccountMissing, listRunPods } from "../pods.ts";
import { digests, workload } from "../run-marks.ts";
import { type JobEvidence, jobFailure, neverHadPod } from "./failure.ts";
import { type Job, jobs, jobUidLabel, listJobPods } from "./job.ts";
import { jobFor } from "./manifest.ts";
import { cancelJob, jobState, startJob, wasCancelled } from "./state.ts";

/** Runs workflows as Kubernetes Jobs: one image, one pod, one attempt. Needs Kubernetes 1.29 or later. */
export function jobEngine(client: KubeClient): Engine {
  return {
    name: "job",
    runs: jobs,
    prepare: async (order) => ({ kind: "prepared", run: jobFor(order) }),
    stateOf: jobState,
    workloadOf: jobWorkload,
    readDigests: (job: Job, signal) => jobDigests(client, job, signal),
    start: startJob,
    cancel: cancelJob,
    readFailure: async (job: Job, signal) => jobFailure(job, await findEvidence(client, job, signal)),
  };
}

async function findEvidence(client: KubeClient, job: Job, signal?: AbortSignal): Promise<JobEvidence> {
  const { namespace = "" } = job.metadata;
  const pods = await listRunPods(client, { run: job, uidLabel: jobUidLabel, signal });
  if (!neverHadPod(job, { pods }) || wasCancelled(job)) return { pods };
  const name = job.spec.template.spec.serviceAccountName ?? "default";
  return { pods, serviceAccountMissing: await isServiceAccountMissing(client, { namespace, name }, signal) };
}

/** Returns the workload of a Job: the image of its only container. */
function jobWorkload({ spec }: Job): Workload {
  // An object that is not ours can have the name of a run, and then lack any field.
  const pod = spec?.template?.spec;
  return workload("job", pod?.containers?.[0]?.image ?? "unknown", pod?.serviceAccountName);
}

/** Returns the digest of the image that the node pulled. */
async function jobDigests(client: KubeClient, job: Job, signal?: AbortSignal): Promise<readonly string[]> {
  const pods = await listJobPods(client, job, signal);
  return digests((pods ?? []).flatMap(({ status }) => status?.containerStatuses ?? []).map(({ imageID }) => imageID));
}
