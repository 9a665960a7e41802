import { type Agent, type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../time/index.ts";

/** One HTTP request to the API server. */
export interface OutgoingRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Protocol, host and port of the server. */
  readonly server: RequestOptions;
  /** Sent unchanged: normalizing `..` would lead to another object. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
}

export interface SendOptions {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly limits: { readonly connectMs: number; readonly headersMs: number };
}

/** The server sent no response, or only a part of one. */
export interface NoResponse {
  readonly kind: "no-response";
  /** False: the server certainly did not receive the request. */
  readonly mayHaveArrived: boolean;
  /** False: another attempt would fail in the same way. */
  readonly isTransient: boolean;
  readonly reason: string;
  readonly cause?: unknown;
}

/** Sends `outgoing` and waits for the head of the response. Never rejects; releases everything when `signal` aborts. */
export function sendRequest(outgoing: OutgoingRequest, { agent, clock, limits }: SendOptions, signal: AbortSignal) {
  return new Promise<{ kind: "response"; response: IncomingMessage } | NoResponse>((resolve) => {
    let mayHaveArrived = false;
    let timeout: string | undefined;
    const startTimeout = (what: string, ms: number) =>
      clock.after(ms, () => {
        timeout = `no ${what} within ${ms} ms`;
        request.destroy();
      });
    const request = createRequest(outgoing, agent);
    let timer = startTimeout("connection", limits.connectMs);

    function startSending() {
      mayHaveArrived = true;
      timer.cancel();
      timer = startTimeout("response", limits.headersMs);
    }
    function abortRequest() {
      request.destroy();
    }
    function removeListeners() {
      timer.cancel();
      signal.removeEventListener("abort", abortRequest);
    }

    request.on("socket", (socket) => onceConnected(socket, request.reusedSocket, startSending));
    request.on("response", (response) => {
      removeListeners();
      resolve({ kind: "response", response });
    });
    request.on("error", (cause) => {
      removeListeners();
      resolve({ ...failure(cause, timeout), mayHaveArrived });
    });
    // Destroyed before it had a socket, a request ends without an error.
    request.on("close", () => {
      removeListeners();
      resolve({ ...failure(new Error("closed"), timeout), mayHaveArrived });
    });
    signal.addEventListener("abort", abortRequest, { once: true });
    if (signal.aborted) abortRequest();
    else request.end(outgoing.body);
  });
}

function createRequest({ method, server, path, headers, body }: OutgoingRequest, agent: Agent) {
  const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
  const options: RequestOptions = { ...server, path, method, agent, headers: { ...headers, ...length } };
  return server.protocol === "https:" ? secureRequest(options) : plainRequest(options);
}

function onceConnected(socket: Socket, isReused: boolean, connected: () => void) {
  const { encrypted } = socket as Partial<TLSSocket>;
  if (isReused) connected();
  else socket.once(encrypted ? "secureConnect" : "connect", connected);
}

function failure(cause: Error & { code?: string }, timeout: string | undefined) {
  const { code = "" } = cause;
  if (timeout) return { kind: "no-response", isTransient: false, reason: timeout } as const;
  // Another attempt would get the same certificate.
  const isTransient = !/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code);
  return { kind: "no-response", isTransient, reason: cause.message || code, cause } as const;
}
