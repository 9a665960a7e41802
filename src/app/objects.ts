import { readFile as readFromDisk } from "node:fs/promises";
import type { Config } from "../config/index.ts";
import {
  type Connection,
  fromKubeconfig,
  httpClient,
  inCluster,
  type KubeClient,
  KubeError,
  namespaces,
} from "../kube/index.ts";
import type { Clock, Random } from "../time/index.ts";

export interface ObjectsOptions {
  readonly config: Pick<Config, "objects" | "locks">;
  /** Starts or connects to the embedded server, if it is configured. */
  readonly embedded: () => Promise<Pick<Objects, "client">>;
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile?: (path: string) => Promise<string>;
}

/** The API server that keeps all objects, as configured. */
export interface Objects {
  readonly client: KubeClient;
}

/** Opens the configured API server, and fails at once if it does not respond or rejects our credentials. */
export async function openObjects(options: ObjectsOptions): Promise<Objects> {
  const { config, embedded, clock, random } = options;
  if (config.objects.server === "embedded") return embedded();

  const connection = await connectionTo(options);
  const client = httpClient({ connection, clock, random });
  await reach(client, connection, config);
  return { client };
}

function connectionTo({ config, env, readFile = (path) => readFromDisk(path, "utf8") }: ObjectsOptions) {
  const { server, kubeconfig: path, context } = config.objects;
  if (server === "in-cluster") return inCluster({ readFile, env });
  if (!path) throw new TypeError("objects.kubeconfig is not set, although the configuration was accepted without it");
  return fromKubeconfig({ path, context, env });
}

async function reach(client: KubeClient, { url }: Connection, { locks }: ObjectsOptions["config"]) {
  try {
    await client.get(namespaces, { name: locks.namespace });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    // A client that must not list namespaces is authenticated at least; other missing rights are reported when they are needed.
    const isKnown = error.code === "forbidden" && !/unauthorized/i.test(error.message);
    if (isKnown) return;
    throw new KubeError(error.code, `the API server at ${url} cannot be used: ${error.message}`, { cause: error });
  }
}
