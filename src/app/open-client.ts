import { readFile, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Config } from "../config/index.ts";
import {
  type Connection,
  fromKubeconfig,
  type HttpClient,
  httpClient,
  inCluster,
  type KubeClient,
  listContexts,
} from "../kube/index.ts";
import type { Clock, Random } from "../time/index.ts";

export interface ClientOptions {
  readonly context?: string | undefined;
  /** What to do if the file does not exist, for the error. */
  readonly ifMissing?: string;
  /** The environment of exec plugins. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

/** The API server that a kubeconfig, or several merged ones, name. */
export async function openClient(
  path: string | readonly string[],
  { random, ...options }: ClientOptions,
): Promise<HttpClient> {
  const { clock } = options;
  const connection = await connectBy(path, options);
  return httpClient({ connection, clock, random });
}

async function connectBy(
  path: string | readonly string[],
  { context, env, clock, ifMissing = "correct the path" }: Omit<ClientOptions, "random">,
): Promise<Connection> {
  const connection = await fromKubeconfig({ path, context, env }).catch((error: Error) => {
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") throw error;
    throw new Error(`kubeconfig ${[path].flat().join(", ")} does not exist; ${ifMissing}`, { cause: error });
  });
  // An exec plugin may prompt an operator to log in, which takes longer than the timeout of a request.
  if (typeof connection.credentials === "function") await connection.credentials({ clock });
  return connection;
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
  /** The command that starts Interlock here, for errors. */
  readonly startCommand?: string;
}

/** The kubeconfig files that are read, and the reason. */
export interface KubeconfigChoice {
  readonly paths: readonly string[];
  readonly origin: "--kubeconfig" | "objects.kubeconfig" | "data directory" | "KUBECONFIG" | "home directory";
}

/**
 * The API server for a command or a stage that runs alone. The first of these that exists: `--kubeconfig`, the server of
 * the cluster (`objects.server: in-cluster`), `objects.kubeconfig`, the kubeconfig in the data directory, the files of
 * `KUBECONFIG`, `~/.kube/config`.
 */
export async function openApiServer(options: ApiServerOptions): Promise<HttpClient> {
  const { clock, random } = options;
  return httpClient({ connection: await connectApiServer(options), clock, random });
}

/** How that API server is reached, for clients that act as other users. */
export async function connectApiServer(options: Omit<ApiServerOptions, "random">): Promise<Connection> {
  const { config, env, clock, startCommand = "interlock up" } = options;
  if (isInCluster(options)) return inCluster({ readFile: (path) => readFile(path, "utf8"), env });
  const context = options.context ?? config.objects.context;
  const { paths, origin } = await chooseKubeconfig(options);
  const start = `start Interlock (${startCommand} or interlock api), which writes it, or name another file with --kubeconfig`;
  const ifMissing = origin === "data directory" ? start : `name another file with ${origin}`;
  return connectBy(paths, { context, env, clock, ifMissing });
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

type ChoiceOptions = Omit<ApiServerOptions, "clock" | "random">;

function isInCluster({ kubeconfig, config }: ChoiceOptions): boolean {
  return kubeconfig === undefined && config.objects.server === "in-cluster";
}

/** Decides which kubeconfig files are read. */
export async function chooseKubeconfig(options: ChoiceOptions): Promise<KubeconfigChoice> {
  const { kubeconfig, config, directory, env } = options;
  if (kubeconfig) return { paths: [kubeconfig], origin: "--kubeconfig" };
  if (config.objects.kubeconfig) return { paths: [config.objects.kubeconfig], origin: "objects.kubeconfig" };
  const own = join(directory, "kubeconfig");
  const shared = await sharedKubeconfig(env);
  if (!(await isFile(own))) {
    // Without any file, the error names the one that `up` would write.
    return shared ?? { paths: [own], origin: "data directory" };
  }
  // A named context may be in any of the files. Without a name, the context of the embedded server is used.
  const isNamed = (options.context ?? config.objects.context) !== undefined;
  return { paths: [own, ...((isNamed && shared?.paths) || [])], origin: "data directory" };
}

/** Returns the files that kubectl would read; undefined if none exists. */
async function sharedKubeconfig(env: ApiServerOptions["env"]): Promise<KubeconfigChoice | undefined> {
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter(Boolean);
  if ((await Promise.all(listed.map(isFile))).some(Boolean)) return { paths: listed, origin: "KUBECONFIG" };
  const home = env["HOME"] ? join(env["HOME"], ".kube", "config") : undefined;
  return home && (await isFile(home)) ? { paths: [home], origin: "home directory" } : undefined;
}

/** Whether the chosen server is that of `up` or `api` with the data directory. */
export async function isOwnServer(options: ChoiceOptions): Promise<boolean> {
  if (isInCluster(options)) return false;
  const own = join(options.directory, "kubeconfig");
  const { paths } = await chooseKubeconfig(options);
  if (paths[0] !== own) return false;
  const context = options.context ?? options.config.objects.context;
  return context === undefined || (await listContexts([own])).names.includes(context);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
