import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  adminName,
  embeddedClient,
  freezeJson,
  kubeconfigFor,
  openFileSpill,
  openLogStore,
  selfSigned,
  serveApi,
} from "../apiserver/index.ts";
import { DiskError, writeDurably } from "../disk/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { identityPolicies } from "../manifests/index.ts";
import { executionNamespace } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import { makeDataDirectory } from "./data-directory.ts";
import { makeNamespaces } from "./prepare.ts";
import { awaitListening } from "./servers.ts";

export interface EmbeddedApiOptions {
  /** Where objects, certificate and token are kept. Belongs to one process at a time. */
  readonly directory: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Made once and kept in the directory, unless given. */
  readonly token?: string;
  /** Accepts tokens over plain HTTP too. Refused for an address that is not loopback. */
  readonly acceptPlainTokens?: boolean;
  /** Where the kubeconfig goes; in the directory unless given. */
  readonly kubeconfigFile?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface EmbeddedApi {
  readonly url: string;
  readonly kubeconfigFile: string;
  /** The admin's. */
  readonly token: string;
  /** The same API without HTTP, for stages in this process. */
  readonly client: KubeClient;
  close(): Promise<void>;
}

/**
 * A new store counts from the clock, so that fences, which are resourceVersions, go on where an earlier store of the
 * same place left off. No installation writes that often in the long run, and the log has room for it until the year 2148.
 */
const revisionsPerMs = 50;

/** Starts the embedded API server on its directory. The kinds of the stages are the stages' business. */
export async function startEmbeddedApi(options: EmbeddedApiOptions): Promise<EmbeddedApi> {
  const { directory, listen, clock, random, log } = options;
  await makeDataDirectory(directory, clock);
  const store = await openLogStore({
    directory: join(directory, "objects"),
    parse: freezeJson,
    openSpill: (directory) => openFileSpill(directory, { log }),
    clock,
    log,
    newStoreAt: Math.floor(clock.wallMs() * revisionsPerMs),
  }).catch(explainInUse);
  try {
    const tls = await keptTls(directory, listen.host, clock, random);
    const token = options.token ?? (await kept(join(directory, "token"), () => random.id() + random.id()));
    const { acceptPlainTokens = false } = options;
    const policies = identityPolicies(adminName);
    const tokens = { admin: token };
    const serving = serveApi({ store, clock, random, tokens, policies, listen, tls, acceptPlainTokens, log });
    const served = await awaitListening("--listen", listen, serving);
    const client = embeddedClient(served.api);
    await makeNamespaces(client, ["default", "kubernaut-system", executionNamespace]);
    const kubeconfigFile = options.kubeconfigFile ?? join(directory, "kubeconfig");
    await writeDurably(kubeconfigFile, kubeconfigFor({ url: served.url, token, certificate: tls.certificate }));
    async function close() {
      await served.close();
      await store.close();
    }
    return { url: served.url, kubeconfigFile, token, client, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function explainInUse(error: unknown): never {
  if (!(error instanceof DiskError) || error.code !== "in-use") throw error;
  const todo = "use that one, stop it first, or start another one with --data DIR and --listen HOST:PORT";
  throw new Error(`${error.message}: Interlock runs there already; ${todo}`, { cause: error });
}

/** Key and certificate outlive a restart, or every kubeconfig that was handed out would break. */
async function keptTls(directory: string, host: string, clock: Clock, random: Random) {
  const hosts = [...new Set(["127.0.0.1", "::1", "localhost", host])];
  const text = await kept(join(directory, "tls.json"), () => JSON.stringify(selfSigned(hosts, clock.wallMs(), random)));
  return JSON.parse(text) as ReturnType<typeof selfSigned>;
}

/** The content of the file; if there is none, the result of `make` is stored there, readable by this user only. */
async function kept(file: string, make: () => string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const made = make();
  await writeDurably(file, made);
  return made;
}
