import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedClient } from "../../../src/apiserver/embedded-client.ts";
import type { ConsoleServerOptions } from "../../../src/console/http/server.ts";
import { serveConsole } from "../../../src/console/http/server.ts";
import { readStaticFiles } from "../../../src/console/http/static-files.ts";
import { localIdentity } from "../../../src/console/identity/local-identity.ts";
import { type LocalUsers, localUsers } from "../../../src/console/identity/local-users.ts";
import { type LoginLinks, loginLinks } from "../../../src/console/identity/login-links.ts";
import { keptSessionKey } from "../../../src/console/identity/session.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { installCrds } from "../../../src/resources/index.ts";
import { type Clock, systemClock, systemRandom } from "../../../src/time/index.ts";
import { serverUnderTest } from "../../conformance/server-under-test.ts";
import { type RecordingLogger, recordingLogger } from "../../doubles/recording-logger.ts";

export const admin = "interlock-admin";
export const adminToken = "the-token-of-the-embedded-server";

/** A console with local users in front of an embedded API server, over real HTTP. */
export interface ConsoleUnderTest {
  readonly url: string;
  readonly users: LocalUsers;
  readonly links: LoginLinks;
  readonly client: KubeClient;
  readonly log: RecordingLogger;
  /** Moves the wall clock of the console. */
  passTime(ms: number): void;
  /** The cookie of a new session of the user. */
  logIn(user?: string): Promise<string>;
  /** A request; `cookie` is sent as a browser on a page of the console would. */
  ask(path: string, request?: AskOptions): Promise<Response>;
  close(): Promise<void>;
}

export interface AskOptions {
  readonly method?: string;
  readonly cookie?: string;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

type Given = Partial<Omit<ConsoleServerOptions, "routes">> & {
  readonly directory?: string;
  readonly webDirectory?: string;
  readonly routes?: (client: KubeClient) => ConsoleServerOptions["routes"];
};

export async function consoleUnderTest({
  routes = () => [],
  webDirectory,
  ...given
}: Given = {}): Promise<ConsoleUnderTest> {
  const directory = given.directory ?? (await mkdtemp(join(tmpdir(), "interlock-console-")));
  const api = await serverUnderTest();
  const client = embeddedClient(api.api);
  await installCrds(client);
  const [real, random, log] = [systemClock(), systemRandom(), recordingLogger()];
  let passedMs = 0;
  const clock: Clock = { ...real, now: () => real.now() + passedMs, wallMs: () => real.wallMs() + passedMs };
  const users = localUsers({ directory, admin, clock, random });
  const links = loginLinks(directory, clock, random);
  const sessionKey = await keptSessionKey(directory, random);
  const sessionMs = 12 * 3_600_000;
  const server = await serveConsole({
    identity: localIdentity({ users, links, sessionKey, sessionMs, admin, adminToken, client, clock, random }),
    routes: routes(client),
    files: webDirectory === undefined ? new Map() : await readStaticFiles(webDirectory),
    listen: { host: "127.0.0.1", port: 0 },
    hosts: [],
    version: "1.2.3",
    clock,
    log,
    ...given,
  });
  const { url } = server;

  const ask = (path: string, { method = "GET", cookie, token, headers = {}, body }: AskOptions = {}) =>
    fetch(`${url}${path}`, {
      method,
      redirect: "manual",
      headers: {
        ...(cookie !== undefined && { cookie, origin: url }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });

  return {
    ...{ url, users, links, client, log, ask },
    passTime: (ms) => {
      passedMs += ms;
    },
    async logIn(user = admin) {
      const response = await ask(`/login/link?token=${await links.create(user)}`);
      return cookieIn(response);
    },
    async close() {
      await server.close();
      await api.close();
      if (given.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The cookie that a response sets, as a browser sends it back. */
export function cookieIn(response: Response): string {
  return (response.headers.get("set-cookie") ?? "").replace(/;.*$/s, "");
}
