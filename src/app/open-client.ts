import { readFile, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Config } from "../config/index.ts";
import { fromKubeconfig, httpClient, inCluster, type KubeClient } from "../kube/index.ts";
import type { Clock, Random } from "../time/index.ts";

/** The API server that a kubeconfig names. */
export async function openClient(
  path: string,
  { clock, random, context }: { readonly clock: Clock; readonly random: Random; readonly context?: string | undefined },
): Promise<KubeClient> {
  const connection = await fromKubeconfig({ path, ...(context !== undefined && { context }) }).catch((error: Error) => {
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") throw error;
    throw new Error(
      `kubeconfig ${path} does not exist; start Interlock (npm start or interlock api), which writes it, or name another file with --kubeconfig`,
      { cause: error },
    );
  });
  return httpClient({ connection, clock, random });
}

export interface ApiServerOptions {
  /** `--kubeconfig` */
  readonly kubeconfig: string | undefined;
  /** `--context` */
  readonly context: string | undefined;
  /** The data directory of `up` or `api`, which write a kubeconfig there. */
  readonly directory: string;
  readonly config: Pick<Config, "objects">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The API server for a command or a stage that runs alone. The first of these that is there: `--kubeconfig`, the server of
 * the cluster (`objects.server: in-cluster`), `objects.kubeconfig`, the kubeconfig in the data directory, `KUBECONFIG`.
 */
export async function openApiServer(options: ApiServerOptions): Promise<KubeClient> {
  const { config, env, clock, random, context = config.objects.context } = options;
  if (!options.kubeconfig && config.objects.server === "in-cluster") {
    const connection = await inCluster({ readFile: (path) => readFile(path, "utf8"), env });
    return httpClient({ connection, clock, random });
  }
  return openClient(await kubeconfigPath(options), { clock, random, context });
}

async function kubeconfigPath({ kubeconfig, config, directory, env }: ApiServerOptions): Promise<string> {
  const named = kubeconfig ?? config.objects.kubeconfig;
  if (named) return named;
  const own = join(directory, "kubeconfig");
  for (const path of [own, ...(env["KUBECONFIG"] ?? "").split(delimiter)]) {
    if (path && (await isFile(path))) return path;
  }
  // Where it would be, for the error that says so.
  return own;
}

/** Whether that is the server of `up` or `api` on the data directory. */
export async function isOwnServer(options: ApiServerOptions): Promise<boolean> {
  if (!options.kubeconfig && options.config.objects.server === "in-cluster") return false;
  return (await kubeconfigPath(options)) === join(options.directory, "kubeconfig");
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
