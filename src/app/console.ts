import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { adminName } from "../apiserver/index.ts";
import type { LoadedConfig } from "../config/index.ts";
import {
  clusterIdentity,
  consoleRoutes,
  type Identity,
  keptSessionKey,
  linkPath,
  localIdentity,
  localUsers,
  loginLinks,
  oidcCallbackPath,
  oidcLogin,
  openProjection,
  readStaticFiles,
  type SignalPreview,
  serveConsole,
} from "../console/index.ts";
import { writeDurably } from "../disk/index.ts";
import { actAs, type Connection, httpClient, type KubeClient } from "../kube/index.ts";
import type { OperateContext } from "../operate/index.ts";
import { fixedKinds, type RemediationRequestSpec } from "../resources/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { type Clock, Pacer, type Random } from "../time/index.ts";
import { localRunsFolder } from "./data-directory.ts";
import { factsLimits, factsReader } from "./facts.ts";
import { type PreviewRequest, previewAtGateway } from "./gateway-preview.ts";
import { hasLedger, openLedgerDatabase, patienceMs, readRecorded } from "./ledger.ts";
import { operateContext } from "./operate-context.ts";
import { readRulesFolder } from "./rules-folder.ts";
import { awaitListening, tlsCertificate } from "./servers.ts";

export interface ConsoleOptions {
  readonly loaded: Pick<LoadedConfig, "config" | "origins">;
  readonly client: KubeClient;
  /** The data directory of the process. */
  readonly directory: string;
  /** The gateway of this process, which previews its response to a payload. */
  readonly gateway?: { readonly url: string; readonly tokenFile: string | undefined };
  /** Of the built web app. */
  readonly webDirectory: string;
  /** Of this program. */
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface RunningConsole {
  /** The URL for browsers. */
  readonly url: string;
  /** A link that logs the admin in, once; undefined in a cluster. */
  readonly link?: string;
  close(): Promise<void>;
}

/** File in the data directory with the URL of the running console, for `interlock users link`. */
const consoleUrlFile = "console-url";

/** Opens the users and links of a data directory, for `up` and `interlock users`. */
export function openLocalUsers({ directory, clock, random }: Pick<ConsoleOptions, "directory" | "clock" | "random">) {
  const folder = join(directory, "console");
  return {
    folder,
    users: localUsers({ directory: folder, admin: adminName, clock, random }),
    links: loginLinks(folder, clock, random),
    /** The user who always exists. */
    admin: adminName,
    /** Returns the URL of the console of this directory; undefined if it does not run. */
    url: () => readFile(join(directory, consoleUrlFile), "utf8").catch(() => undefined),
  };
}

export type LocalConsole = ReturnType<typeof openLocalUsers>;

/** Returns the URL at which a browser logs in with a token. */
export function loginUrl(consoleUrl: string, token: string): string {
  return `${consoleUrl}${linkPath}${token}`;
}

/** Starts the console of `up`, with local users. `token` is the one of the embedded API server. */
export async function openLocalConsole(options: ConsoleOptions & { readonly token: string }): Promise<RunningConsole> {
  const { loaded, client, clock, random, token } = options;
  const { folder, users, links, admin } = openLocalUsers(options);
  const identity = localIdentity({
    ...{ users, links, admin, client, clock, random },
    adminToken: token,
    sessionKey: await keptSessionKey(folder, random),
    sessionMs: loaded.config.console.sessionMs,
  });
  const { url, close } = await openConsole(options, { identity, sharesExecutor: true });
  return { url, close, link: loginUrl(url, await links.create(admin)) };
}

/** Starts the console of a cluster, whose API server authenticates the users. `connection` is the console's own. */
export async function openClusterConsole(
  options: ConsoleOptions & { readonly connection: Connection },
): Promise<RunningConsole> {
  const { loaded, client, connection, clock, random, directory } = options;
  const { console: settings, gateway } = loaded.config;
  const { sessionKeyFile, sessionMs } = settings;
  const sessionKey = sessionKeyFile
    ? await readSessionKey(sessionKeyFile)
    : await keptSessionKey(join(directory, "console"), random);
  const oidc = await oidcSettings(options);
  const identity = clusterIdentity({
    ...{ client, sessionKey, sessionMs, clock, random },
    incidentsIn: gateway.namespace,
    clientAs: ({ name, groups }) =>
      httpClient({ connection: actAs(connection, { user: name, groups }), clock, random }),
    oidc: oidc && ((beginSession) => oidcLogin({ ...options, ...oidc, key: sessionKey, beginSession })),
  });
  return openConsole(options, { identity, sharesExecutor: false });
}

async function readSessionKey(file: string): Promise<string> {
  const key = (await readFile(file, "utf8")).trim();
  if (key.length >= minKeyLength) return key;
  throw new TypeError(`console.sessionKeyFile ${file} has a key of less than ${minKeyLength} characters`);
}

const minKeyLength = 32;

/** Returns undefined if there is no identity provider: users then log in with tokens of the API server. */
async function oidcSettings({ loaded }: ConsoleOptions) {
  const { console: settings } = loaded.config;
  const { url, oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret, oidcClientSecretFile } = settings;
  if (issuer === undefined || clientId === undefined || url === undefined) return undefined;
  const fromFile = oidcClientSecretFile && (await readFile(oidcClientSecretFile, "utf8")).trim();
  return {
    issuer,
    clientId,
    clientSecret: oidcClientSecret?.reveal() ?? (fromFile || undefined),
    scopes: settings.oidcScopes,
    claims: {
      username: settings.oidcUsernameClaim,
      usernamePrefix: settings.oidcUsernamePrefix,
      groups: settings.oidcGroupsClaim,
      groupsPrefix: settings.oidcGroupsPrefix,
    },
    redirectUrl: new URL(oidcCallbackPath, url).href,
  };
}

interface ConsoleParts {
  readonly identity: Identity;
  /** Whether the executor has the same settings as this process. */
  readonly sharesExecutor: boolean;
}

async function openConsole(
  options: ConsoleOptions,
  { identity, sharesExecutor }: ConsoleParts,
): Promise<RunningConsole> {
  const { loaded, directory, webDirectory, version, clock, random, log } = options;
  // Every viewer reads the ledger in this thread, and `up` has all stages in it.
  const pacer = new Pacer(clock);
  const recorded: OperateContext["readEvents"] = (subject, options) =>
    readRecorded({ subject, ...options }, { loaded, directory }, { pacer });
  const { gateway, execution } = loaded.config;
  const projection = openProjection({
    ...options,
    namespace: gateway.namespace,
    maxConsecutiveFailures: execution.maxConsecutiveFailures,
    idleMs: projectionIdleMs,
  });
  const previewing = options.gateway && { ...options.gateway, tokens: gateway.tokens?.reveal() };
  const contextFor = (client: KubeClient) => {
    const context = operateContext({ loaded, client, kindsClient: options.client, clock, sharesExecutor, recorded });
    return {
      ...context,
      projection,
      locksIn: loaded.config.locks.namespace,
      rules: () => readRulesFolder(loaded.config.rules.dir),
      preview: (request: PreviewRequest) => previewAtGateway<SignalPreview>(previewing, request),
      async readFacts(incident: RemediationRequestSpec, subject: string | undefined, signal: AbortSignal) {
        const kinds = fixedKinds(await context.kinds());
        const read = factsReader({ client, kinds, clock, ...factsLimits(loaded.config) });
        return read(incident, subject, signal);
      },
      openLedger: async () => {
        const place = { loaded, directory };
        return (await hasLedger(place)) ? openLedgerDatabase(place, { waitMs: patienceMs, pacer }) : undefined;
      },
    };
  };
  const { listen, hosts = [], url: publicUrl, tlsCertFile, tlsKeyFile } = loaded.config.console;
  const serving = serveConsole({
    identity,
    routes: consoleRoutes({
      ...{ projection, contextFor, clock, random },
      runsIn: execution.namespace,
      // In a cluster, users have no right to read the files of this process.
      localRuns: sharesExecutor ? localRunsFolder(execution, directory) : undefined,
    }),
    files: await readStaticFiles(webDirectory),
    certificate: await tlsCertificate("console", { tlsCertFile, tlsKeyFile }, options),
    ...{ listen, hosts, publicUrl, version, clock, log },
  });
  const server = await awaitListening("console.listen (or CONSOLE_LISTEN)", listen, serving);
  const url = publicUrl?.replace(/\/$/, "") ?? server.url;
  const urlFile = join(directory, consoleUrlFile);
  await writeDurably(urlFile, url);
  log.info("console ready", { url });
  return {
    url,
    async close() {
      await rm(urlFile, { force: true });
      await server.close();
      projection.close();
    },
  };
}

/** How long rows are kept after the last viewer has left, for a page that is reloaded. */
const projectionIdleMs = 5 * 60_000;
