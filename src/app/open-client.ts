import { fromKubeconfig, httpClient, type KubeClient } from "../kube/index.ts";
import type { Clock, Random } from "../time/index.ts";

/** The API server that a kubeconfig names. */
export async function openClient(
  path: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<KubeClient> {
  return httpClient({ connection: await fromKubeconfig({ path }), clock, random });
}
