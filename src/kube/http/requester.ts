import type { IncomingMessage } from "node:http";
import { urlToHttpOptions } from "node:url";
import { type Clock, type Random, sleep } from "../../time/index.ts";
import { KubeError } from "../client.ts";
import {
  type Connection,
  type CredentialRequest,
  type Credentials,
  credentialHeaders,
} from "../connection/connection.ts";
import { connectionPool } from "./agents.ts";
import { describeOperation, type Operation } from "./operation.ts";
import { type HttpResponse, readResponse } from "./read-response.ts";
import { retryInMs } from "./retry.ts";
import { type NoResponse, type OutgoingRequest, sendRequest } from "./send-request.ts";
import type { ServerTime } from "./server-time.ts";
import { TimeLimit } from "./time-limit.ts";

export interface Limits {
  /** For the connection, with its TLS handshake. */
  readonly connectMs: number;
  /** From then until the response begins. */
  readonly headersMs: number;
  /** For all attempts of a call and the delays between them; for a list, per page. */
  readonly callMs: number;
  readonly maxResponseBytes: number;
}

export interface RequesterOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: Limits;
  readonly serverTime: ServerTime;
}

/** The request for an operation. */
export interface Message {
  readonly method: OutgoingRequest["method"];
  /** Below the url of the server, with the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** A response with this status is returned, never retried. */
  readonly isFinalAt?: number;
  /** The content type that the caller expects, if not JSON. */
  readonly accept?: string;
}

/** Reads the body of a response whose head was received. */
export type Receive = (
  response: IncomingMessage,
  signal: AbortSignal,
  maxBytes: number,
) => HttpResponse | Promise<HttpResponse | NoResponse>;

/** Sends `message` and returns the response of the server, success or error. */
export type Requester = (
  operation: Operation,
  message: Message,
  call: { readonly signal?: AbortSignal | undefined; readonly receive?: Receive },
) => Promise<HttpResponse>;

/**
 * Adds credentials, limits and retries to every call. A response of any status is returned; only a missing response, and an
 * abort by the caller, is thrown.
 */
export function requester({ connection, clock, random, limits, serverTime }: RequesterOptions): Requester {
  const poolFor = connectionPool(connection);
  const { protocol, hostname, port, path = "" } = urlToHttpOptions(new URL(connection.url));
  const server = { protocol, hostname, port };
  const root = String(path).replace(/\/$/, "");

  async function attempt(message: Message, credentials: Credentials, limit: TimeLimit, receive: Receive) {
    const sentAt = clock.now();
    const outgoing = { server, path: root + message.path, ...toRequest(message, credentials) };
    const sent = await sendRequest(outgoing, { agent: poolFor(credentials), clock, limits }, limit.signal);
    if (sent.kind === "no-response") return sent;
    serverTime.observe(sent.response.headers, sentAt);
    return receive(sent.response, limit.signal, limits.maxResponseBytes);
  }

  async function attemptUntilFinal(
    message: Message,
    limit: TimeLimit,
    receive: Receive,
  ): Promise<HttpResponse | NoResponse> {
    let refused: Credentials | undefined;
    for (let attempts = 1; ; attempts++) {
      const credentials = await limit.race(currentCredentials(connection, { clock, refused }));
      const outcome = await attempt(message, credentials, limit, receive);
      if (limit.signal.aborted) return outcome;
      if (outcome.kind === "response" && outcome.status === message.isFinalAt) return outcome;
      // Refused credentials may have been replaced. The server did nothing, so even a write is repeated.
      if (isRefused(outcome) && !refused && typeof connection.credentials === "function") {
        refused = credentials;
        continue;
      }
      const delayMs = retryInMs({
        outcome,
        isWrite: message.method !== "GET",
        attempt: attempts,
        remainingMs: limit.remainingMs,
        wallMs: serverTime.nowMs(),
        chance: random.fraction(),
      });
      if (delayMs === undefined) return outcome;
      await sleep(clock, delayMs, limit.signal);
    }
  }

  return async (operation, message, { signal, receive = readResponse }) => {
    if (signal?.aborted) throw abortedError(operation, signal);
    using limit = new TimeLimit(clock, limits.callMs, signal);
    let outcome: HttpResponse | NoResponse;
    try {
      outcome = await attemptUntilFinal(message, limit, receive);
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      outcome = { kind: "no-response", mayHaveArrived: false, isTransient: false, reason: "" };
    }
    if (signal?.aborted) {
      if (outcome.kind === "response") outcome.stream?.destroy();
      throw abortedError(operation, signal);
    }
    if (outcome.kind === "response") return outcome;
    throw unavailable(operation, message, limit.signal.aborted ? withTimeoutReason(outcome, limits) : outcome);
  };
}

function toRequest({ method, body, contentType, accept = "application/json" }: Message, credentials: Credentials) {
  const headers = {
    Accept: accept,
    "User-Agent": "interlock",
    ...(contentType ? { "Content-Type": contentType } : {}),
    ...credentialHeaders(credentials),
  };
  return { method, headers, body };
}

async function currentCredentials({ credentials = {} }: Connection, request: CredentialRequest) {
  return typeof credentials === "function" ? credentials(request) : credentials;
}

function isRefused(outcome: HttpResponse | NoResponse): boolean {
  return outcome.kind === "response" && outcome.status === 401;
}

function withTimeoutReason(outcome: NoResponse, { callMs }: Limits): NoResponse {
  return { ...outcome, reason: `no result within ${callMs} ms` };
}

function unavailable(operation: Operation, { method }: Message, { reason, cause, mayHaveArrived }: NoResponse) {
  const doubt = mayHaveArrived ? "it may or may not have happened" : "it did not happen";
  const message = `cannot ${describeOperation(operation)}: ${reason}${method === "GET" ? "" : `; ${doubt}`}`;
  return new KubeError("unavailable", message, { cause });
}

function abortedError(operation: Operation, { reason }: AbortSignal): KubeError {
  return new KubeError("aborted", `${describeOperation(operation)} was aborted`, { cause: reason });
}
