import { CommandError } from "../cli/index.ts";
import { fromKubeconfig, httpClient, type KubeClient } from "../kube/index.ts";
import type { Clock, Random } from "../time/index.ts";

/** The API server that a kubeconfig names. */
export async function openClient(
  path: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<KubeClient> {
  const connection = await fromKubeconfig({ path }).catch((error: Error) => {
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") throw error;
    throw new CommandError(
      `there is no kubeconfig ${path}: start Interlock first (npm start, or interlock api), which writes one, or name another one with --kubeconfig`,
    );
  });
  return httpClient({ connection, clock, random });
}
