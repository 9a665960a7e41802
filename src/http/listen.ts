import { Server as HttpsServer } from "node:https";
import Fastify, { type FastifyInstance, type FastifyServerOptions } from "fastify";
import type { Clock } from "../time/index.ts";
import { type Certificate, type KeyPair, tlsOptions } from "./certificate.ts";

export interface AppOptions extends FastifyServerOptions {
  /** With it the server accepts only TLS; without it, plain HTTP. */
  readonly certificate?: Certificate | undefined;
}

/** A Fastify application that is not listening yet. */
export function createApp({ certificate, ...options }: AppOptions): FastifyInstance {
  return Fastify({
    https: certificate ? { ...tlsOptions, handshakeTimeout: 10_000, ...certificate.current } : null,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: "idle",
    ...options,
  } as FastifyServerOptions);
}

export interface ListenOptions {
  readonly listen: { readonly host: string; readonly port: number };
  readonly certificate?: Certificate | undefined;
  readonly clock: Clock;
}

/**
 * When the server closes, pending requests have this long. Node checks no request for its timeout any more then, and one of a
 * client that sends or reads nothing would keep the process from ending.
 */
const closeTimeoutMs = 5_000;

/** Listens. `close` completes pending requests, within a limit, and accepts no others. */
export async function listenWith(app: FastifyInstance, { listen, certificate, clock }: ListenOptions) {
  const { host } = listen;
  await app.listen({ host, port: listen.port, backlog: 2_048 });
  const address = app.server.address();
  const port = typeof address === "object" && address ? address.port : listen.port;
  const stop = new AbortController();
  const following = certificate && followCertificate(app, certificate, stop.signal);
  return {
    url: `${certificate ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    async close(): Promise<void> {
      stop.abort();
      await following;
      const cut = clock.after(closeTimeoutMs, () => app.server.closeAllConnections());
      await app.close();
      cut.cancel();
    },
  };
}

/** New connections use the new certificate; open connections keep theirs. */
function followCertificate({ server }: FastifyInstance, certificate: Certificate, signal: AbortSignal): Promise<void> {
  const use = (pair: KeyPair) => {
    if (server instanceof HttpsServer) server.setSecureContext({ ...tlsOptions, ...pair });
  };
  return certificate.follow(use, signal);
}
