import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { adminName } from "../apiserver/index.ts";
import type { LoadedConfig } from "../config/index.ts";
import {
  type Identity,
  keptSessionKey,
  type LocalUsers,
  type LoginLinks,
  linkPath,
  localIdentity,
  localUsers,
  loginLinks,
  readStaticFiles,
  serveConsole,
} from "../console/index.ts";
import { writeDurably } from "../disk/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import { listening } from "./listening.ts";
import { tlsCertificate } from "./tls-certificate.ts";

export interface ConsoleOptions {
  readonly loaded: Pick<LoadedConfig, "config">;
  readonly client: KubeClient;
  /** The data directory of the process. */
  readonly directory: string;
  /** Of the built web app. */
  readonly webDirectory: string;
  /** Of this program. */
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface RunningConsole {
  /** Where browsers reach it. */
  readonly url: string;
  /** A link that logs the admin in, once; undefined in a cluster. */
  readonly link?: string;
  close(): Promise<void>;
}

/** In the data directory: where the console can be reached as long as it runs, for `interlock users link`. */
const consoleUrlFile = "console-url";

/** What `up` and `interlock users` share: the users and links of a data directory. */
export function openLocalUsers({ directory, clock, random }: LocalUsersPlace): LocalConsole {
  const folder = join(directory, "console");
  return {
    folder,
    users: localUsers({ directory: folder, admin: adminName, clock, random }),
    links: loginLinks(folder, clock, random),
    admin: adminName,
    url: () => readFile(join(directory, consoleUrlFile), "utf8").catch(() => undefined),
  };
}

interface LocalUsersPlace {
  readonly directory: string;
  readonly clock: Clock;
  readonly random: Random;
}

export interface LocalConsole {
  readonly folder: string;
  readonly users: LocalUsers;
  readonly links: LoginLinks;
  /** The user who is always there. */
  readonly admin: string;
  /** Where the console of this directory is; undefined if it does not run. */
  url(): Promise<string | undefined>;
}

/** Where a browser goes to log in. */
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
  const { url, close } = await openConsole(options, identity);
  return { url, close, link: loginUrl(url, await links.create(admin)) };
}

async function openConsole(options: ConsoleOptions, identity: Identity): Promise<RunningConsole> {
  const { loaded, directory, webDirectory, version, clock, log } = options;
  const { listen, hosts = [], url: publicUrl, tlsCertFile, tlsKeyFile } = loaded.config.console;
  const serving = serveConsole({
    identity,
    routes: [],
    files: await readStaticFiles(webDirectory),
    certificate: await tlsCertificate("console", { tlsCertFile, tlsKeyFile }, options),
    ...{ listen, hosts, publicUrl, version, clock, log },
  });
  const server = await listening("console.listen (or CONSOLE_LISTEN)", listen, serving);
  const url = publicUrl?.replace(/\/$/, "") ?? server.url;
  const urlFile = join(directory, consoleUrlFile);
  await writeDurably(urlFile, url);
  log.info("console ready", { url });
  return {
    url,
    async close() {
      await rm(urlFile, { force: true });
      await server.close();
    },
  };
}
