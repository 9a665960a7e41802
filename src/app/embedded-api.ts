import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
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
import { DiskError, readOrCreate, writeDurably } from "../disk/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { identityPolicies } from "../manifests/index.ts";
import { executionNamespace } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import { makeDataDirectory } from "./data-directory.ts";
import { makeNamespaces } from "./prepare.ts";
import { awaitListening } from "./servers.ts";

export interface EmbeddedApiOptions {
  /** The directory of objects, certificate and token. One process uses it at a time. */
  readonly directory: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Default: created once and stored in the directory. */
  readonly token?: string;
  /** Accepts tokens over plain HTTP too. Refused for an address that is not loopback. */
  readonly acceptPlainTokens?: boolean;
  /** Default: `kubeconfig` in the directory. */
  readonly kubeconfigFile?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

type SelfSigned = ReturnType<typeof selfSigned>;

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
 * The versions of a new store start from the clock, so that fences, which are resourceVersions, are larger than those of an
 * earlier store in the same directory. No installation writes more often on average. The numbers suffice until the year 2148.
 */
const revisionsPerMs = 50;

/** Starts the embedded API server on its directory. The stages install their kinds themselves. */
export async function startEmbeddedApi(options: EmbeddedApiOptions): Promise<EmbeddedApi> {
  const { directory, listen, clock, random, log } = options;
  await makeDataDirectory(directory);
  const store = await openLogStore({
    directory: join(directory, "objects"),
    parse: freezeJson,
    openSpill: (directory) => openFileSpill(directory, { log }),
    clock,
    log,
    newStoreAt: Math.floor(clock.wallMs() * revisionsPerMs),
  }).catch(explainInUse);
  try {
    const tls = await readOrCreateTls(options);
    const token = options.token ?? (await readOrCreate(join(directory, "token"), () => random.id() + random.id()));
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

/**
 * Key and certificate outlive a restart, because kubeconfigs that users copied contain the certificate. They are replaced if the
 * certificate does not cover the listen address, because no client could connect.
 */
async function readOrCreateTls({ directory, listen, clock, random, log }: EmbeddedApiOptions): Promise<SelfSigned> {
  const file = join(directory, "tls.json");
  const hosts = [...new Set(["127.0.0.1", "::1", "localhost", listen.host])];
  const create = () => JSON.stringify(selfSigned(hosts, clock.wallMs(), random));
  const tls = JSON.parse(await readOrCreate(file, create)) as SelfSigned;
  if (coversHost(tls.certificate, listen.host)) return tls;
  const text = create();
  await writeDurably(file, text);
  const next = "copies of the kubeconfig have the old certificate: copy it again";
  log.warn("tls certificate replaced", { host: listen.host, next });
  return JSON.parse(text) as SelfSigned;
}

function coversHost(certificate: string, host: string): boolean {
  const x509 = new X509Certificate(certificate);
  return (isIP(host) ? x509.checkIP(host) : x509.checkHost(host)) !== undefined;
}
