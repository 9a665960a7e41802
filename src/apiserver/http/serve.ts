import { createServer, type Server as HttpServer, type IncomingMessage, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { exactTimeHeader } from "../../kube/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock, Random } from "../../time/index.ts";
import { type AdmissionPolicy, admission } from "../api/admission.ts";
import { openApi, type RunningApi } from "../api/open-api.ts";
import type { ObjectStore } from "../object-store.ts";
import { authenticator, type Tokens } from "./authenticate.ts";
import { bothProtocols } from "./both-protocols.ts";
import { isLoopback } from "./plain-tokens.ts";
import { BodyReader } from "./read-body.ts";
import { PendingResponses, requestListener } from "./request-listener.ts";
import { WatchStreams } from "./watch-streams.ts";

export interface ServeOptions {
  /** Owned by the caller: it is not closed with the server. */
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly tokens: Tokens;
  /** The policies for writes over HTTP. A client in this process is trusted. */
  readonly policies?: readonly AdmissionPolicy[];
  /** Default: loopback and a free port. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  readonly log?: Logger;
  /** PEM. With it the same port also speaks TLS, and `url` begins with https. */
  readonly tls?: { readonly certificate: string; readonly key: string };
  /** Accepts tokens over plain HTTP, which is possible on a loopback address only. Default: over TLS only. */
  readonly acceptPlainTokens?: boolean;
  /** The maximum time for the headers, and for the whole of a request. */
  readonly timeouts?: { readonly headersMs: number; readonly requestMs: number };
}

export interface ServedApi {
  readonly url: string;
  /** The same API without HTTP, for a client in this process. */
  readonly api: RunningApi;
  close(): Promise<void>;
}

const defaultTimeouts = { headersMs: 10_000, requestMs: 60_000 };
const idleConnectionMs = 120_000;
/** The maximum time for pending requests when the server closes. */
const closeTimeoutMs = 3_000;

/** Serves the objects of a store as a Kubernetes API. */
export async function serveApi({
  store,
  clock,
  random,
  tokens,
  policies = [],
  listen = {},
  log,
  tls,
  acceptPlainTokens = false,
  timeouts = defaultTimeouts,
}: ServeOptions): Promise<ServedApi> {
  const host = listen.host ?? "127.0.0.1";
  if (acceptPlainTokens && !isLoopback(host)) {
    throw new TypeError(`tokens over plain HTTP are for a loopback address such as 127.0.0.1, not for ${host}`);
  }
  if (!tls && !acceptPlainTokens) throw new TypeError("without a certificate no token could be accepted; set tls");
  const authenticate = authenticator(tokens);
  const api = await openApi({ store, clock, random });
  const options = {
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: idleConnectionMs,
    connectionsCheckingInterval: Math.min(2_000, timeouts.headersMs),
    maxHeaderSize: 32 * 1_024,
    noDelay: true,
    ServerResponse: timedResponse(clock),
  };
  const watches = new WatchStreams();
  const pending = new PendingResponses();
  const bodies = new BodyReader(clock);
  const listener = requestListener({
    api,
    authenticate,
    admission: admission(policies),
    watches,
    pending,
    bodies,
    log,
    acceptPlainTokens,
  });
  const plain = createServer(options, listener);
  const secure =
    tls &&
    createSecureServer(
      {
        ...options,
        handshakeTimeout: timeouts.headersMs,
        minVersion: "TLSv1.2",
        cert: tls.certificate,
        key: tls.key,
      },
      listener,
    );
  const front = secure && bothProtocols(plain, secure, { silenceMs: timeouts.headersMs });
  const server = front?.server ?? plain;
  const { port } = await startListening(server, host, listen.port ?? 0);
  const shown = host.includes(":") ? `[${host}]` : host;
  return {
    url: `${tls ? "https" : "http"}://${shown}:${port}`,
    api,
    close: async () => {
      api.close();
      pending.close();
      const end = closeServers(server, secure ? [plain, secure] : [plain], clock);
      front?.closeSilent();
      watches.endAll();
      await end;
      await bodies.close();
    },
  };
}

function startListening(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** Pending requests are completed unless that takes too long; idle connections are closed at once. */
function closeServers(server: Server, servers: readonly HttpServer[], clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cut = clock.after(closeTimeoutMs, () => {
      for (const one of servers) one.closeAllConnections();
    });
    server.close(() => {
      cut.cancel();
      resolve();
    });
    for (const one of servers) if (one !== server) one.close();
  });
}

/**
 * Responses that carry their time in milliseconds, after the reported change was made. `Date` has whole seconds: with it
 * alone, clients would differ by up to a second about the order of events.
 */
function timedResponse(clock: Clock): typeof ServerResponse {
  return class<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    override writeHead(status: number, ...rest: unknown[]): this {
      this.setHeader(exactTimeHeader, clock.wallMs());
      return Reflect.apply(super.writeHead, this, [status, ...rest]) as this;
    }
  };
}
