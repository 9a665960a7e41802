import type { KubeClient } from "../../kube/index.ts";
import type { Workload } from "../../resources/index.ts";
import { digests, workload } from "../workload.ts";
import type { Job } from "./job.ts";
import { podsOfJob } from "./job-pods.ts";

/** What a Job executes: the image of its only container. */
export function jobWorkload({ spec }: Job): Workload {
  // An object that is not ours may have the name of a run and lack any field.
  const pod = spec?.template?.spec;
  return workload("job", pod?.containers?.[0]?.image ?? "unknown", pod?.serviceAccountName);
}

/** The image as the node pulled it. */
export async function jobDigests(client: KubeClient, job: Job, signal?: AbortSignal): Promise<readonly string[]> {
  const pods = await podsOfJob(client, job, signal);
  return digests((pods ?? []).flatMap(({ status }) => status?.containerStatuses ?? []).map(({ imageID }) => imageID));
}
