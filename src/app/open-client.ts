import { readFile, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Config } from "../config/index.ts";
import { fromKubeconfig, httpClient, inCluster, type KubeClient } from "../kube/index.ts";
import type { Clock, Random } from "../time/index.ts";

export interface ClientOptions {
  readonly context?: string | undefined;
  /** The environment of exec plugins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

/** The API server that a kubeconfig, or several merged ones, name. */
export async function openClient(
  path: string | readonly string[],
  { context, env, clock, random }: ClientOptions,
): Promise<KubeClient> {
  const connection = await fromKubeconfig({ path, context, env }).catch((error: Error) => {
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") throw error;
    throw new Error(
      `kubeconfig ${[path].flat().join(", ")} does not exist; start Interlock (npm start or interlock api), which writes it, or name another file with --kubeconfig`,
      { cause: error },
    );
  });
  // An exec plugin may ask an operator to log in, which takes longer than the time limit of a call.
  if (typeof connection.credentials === "function") await connection.credentials({ clock });
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
 * The API server for a command or a stage that runs alone. The first of these that exists: `--kubeconfig`, the server of
 * the cluster (`objects.server: in-cluster`), `objects.kubeconfig`, the kubeconfig in the data directory, the files of
 * `KUBECONFIG`.
 */
export async function openApiServer(options: ApiServerOptions): Promise<KubeClient> {
  const { config, env, clock, random, context = config.objects.context } = options;
  if (!options.kubeconfig && config.objects.server === "in-cluster") {
    const connection = await inCluster({ readFile: (path) => readFile(path, "utf8"), env });
    return httpClient({ connection, clock, random });
  }
  return openClient(await kubeconfigPaths(options), { context, env, clock, random });
}

/**
 * The API server that a ready-made action acts on: the one of the cluster it runs in, else the one of `KUBECONFIG`. There is no
 * default: an action must not change a cluster that its operator did not choose.
 */
export async function openActionServer({ env, clock, random }: ClientOptions): Promise<KubeClient> {
  if (env["KUBERNETES_SERVICE_HOST"]) {
    const connection = await inCluster({ readFile: (path) => readFile(path, "utf8"), env });
    return httpClient({ connection, clock, random });
  }
  const files = (env["KUBECONFIG"] ?? "").split(delimiter).filter(Boolean);
  if (files.length === 0) {
    throw new Error("no API server to act on: set execution.localKubeconfig, which steps get as KUBECONFIG");
  }
  return await openClient(files, { env, clock, random });
}

async function kubeconfigPaths({ kubeconfig, config, directory, env }: ApiServerOptions): Promise<readonly string[]> {
  const named = kubeconfig ?? config.objects.kubeconfig;
  if (named) return [named];
  const own = join(directory, "kubeconfig");
  if (await isFile(own)) return [own];
  const shared = (env["KUBECONFIG"] ?? "").split(delimiter).filter(Boolean);
  // Without any file, the error names the one that `up` would write.
  return (await Promise.all(shared.map(isFile))).some(Boolean) ? shared : [own];
}

/** Whether that is the server of `up` or `api` on the data directory. */
export async function isOwnServer(options: ApiServerOptions): Promise<boolean> {
  if (!options.kubeconfig && options.config.objects.server === "in-cluster") return false;
  const [first] = await kubeconfigPaths(options);
  return first === join(options.directory, "kubeconfig");
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
