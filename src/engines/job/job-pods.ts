import type { KubeClient } from "../../kube/index.ts";
import { type Pod, pods } from "../pods.ts";
import { listIfReadable } from "../readable.ts";
import { type Job, jobUidLabel } from "./job.ts";

/** Every pod of the Job that still exists. Undefined: we must not read them. */
export async function podsOfJob(
  client: KubeClient,
  { metadata: { namespace = "", uid } }: Pick<Job, "metadata">,
  signal?: AbortSignal,
): Promise<readonly Pod[] | undefined> {
  return await listIfReadable(client, pods, { namespace, labelSelector: `${jobUidLabel}=${uid}`, signal });
}
