import { type Agent, type IncomingMessage, request as plainRequest, type RequestOptions } from "node:http";
import { request as secureRequest } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../time/index.ts";

/** A request as it goes over the wire. */
export interface Ask {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Protocol, host and port of the server. */
  readonly server: RequestOptions;
  /** As it is: a path that is tidied up (`..`) leads to another object. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
}

export interface ExchangeOptions {
  readonly agent: Agent;
  readonly clock: Clock;
  readonly limits: { readonly connectMs: number; readonly headersMs: number };
}

/** No answer, or only a part of one. */
export interface Unanswered {
  readonly kind: "unanswered";
  /** False: the server certainly never saw the request. */
  readonly mayHaveArrived: boolean;
  /** False: the same would happen again. */
  readonly passing: boolean;
  readonly because: string;
  readonly cause?: unknown;
}

/** Sends `ask` and waits for the head of the answer. Never rejects, and leaves nothing behind when `stop` aborts. */
export function exchange(ask: Ask, { agent, clock, limits }: ExchangeOptions, stop: AbortSignal) {
  return new Promise<{ kind: "answered"; response: IncomingMessage } | Unanswered>((resolve) => {
    let mayHaveArrived = false;
    let tooLate: string | undefined;
    const giveUp = (what: string, ms: number) =>
      clock.after(ms, () => {
        tooLate = `no ${what} within ${ms} ms`;
        request.destroy();
      });
    const request = send(ask, agent);
    let timer = giveUp("connection", limits.connectMs);

    function startSending() {
      mayHaveArrived = true;
      timer.cancel();
      timer = giveUp("answer", limits.headersMs);
    }
    function abortRequest() {
      request.destroy();
    }
    function removeListeners() {
      timer.cancel();
      stop.removeEventListener("abort", abortRequest);
    }

    request.on("socket", (socket) => whenOpen(socket, request.reusedSocket, startSending));
    request.on("response", (response) => {
      removeListeners();
      resolve({ kind: "answered", response });
    });
    request.on("error", (cause) => {
      removeListeners();
      resolve({ ...failure(cause, tooLate), mayHaveArrived });
    });
    // Destroyed before it had a socket, a request ends without an error.
    request.on("close", () => {
      removeListeners();
      resolve({ ...failure(new Error("closed"), tooLate), mayHaveArrived });
    });
    stop.addEventListener("abort", abortRequest, { once: true });
    if (stop.aborted) abortRequest();
    else request.end(ask.body);
  });
}

function send({ method, server, path, headers, body }: Ask, agent: Agent) {
  const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
  const options: RequestOptions = { ...server, path, method, agent, headers: { ...headers, ...length } };
  return server.protocol === "https:" ? secureRequest(options) : plainRequest(options);
}

function whenOpen(socket: Socket, reused: boolean, open: () => void) {
  const { encrypted } = socket as Partial<TLSSocket>;
  if (reused) open();
  else socket.once(encrypted ? "secureConnect" : "connect", open);
}

function failure(cause: Error & { code?: string }, tooLate: string | undefined) {
  const { code = "" } = cause;
  if (tooLate) return { kind: "unanswered", passing: false, because: tooLate } as const;
  // No second try makes a certificate good.
  const passing = !/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO|EPROTO/.test(code);
  return { kind: "unanswered", passing, because: cause.message || code, cause } as const;
}
