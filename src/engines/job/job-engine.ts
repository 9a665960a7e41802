import type { KubeClient } from "../../kube/index.ts";
import type { Workload } from "../../resources/index.ts";
import type { Engine, PreparedRun, RunOrder } from "../engine.ts";
import { isServiceAccountMissing, listRunPods } from "../pods.ts";
import { digests, workload } from "../run-marks.ts";
import { jobFailure } from "./failure.ts";
import { type Job, jobs, jobUidLabel, listJobPods } from "./job.ts";
import { jobFor } from "./manifest.ts";
import { cancelJob, jobState, startJob } from "./state.ts";

/** Runs workflows as Kubernetes Jobs: one image, one pod, one attempt. Needs Kubernetes 1.29 or later. */
export function jobEngine(client: KubeClient): Engine {
  return {
    name: "job",
    runs: jobs,
    prepare: (order, signal) => prepareJob(client, order, signal),
    stateOf: jobState,
    workloadOf: jobWorkload,
    readDigests: (job: Job, signal) => jobDigests(client, job, signal),
    start: startJob,
    cancel: cancelJob,
    readFailure: async (job: Job, signal) =>
      jobFailure(job, await listRunPods(client, { run: job, uidLabel: jobUidLabel, signal })),
  };
}

/** Refuses a service account that does not exist: the Job would get no pod, and hold its target until it timed out. */
async function prepareJob(client: KubeClient, order: RunOrder, signal?: AbortSignal): Promise<PreparedRun> {
  const { namespace } = order;
  const { serviceAccountName: name } = order.workflow;
  if (name === undefined || !(await isServiceAccountMissing(client, { namespace, name }, signal)))
    return { kind: "prepared", run: jobFor(order) };
  const message = `the service account ${namespace}/${name} does not exist`;
  return { kind: "refused", reason: "ServiceAccountMissing", message };
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
