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
import { type Ask, exchange, type Unanswered } from "./exchange.ts";
import { describeOperation, type Operation } from "./operation.ts";
import { type HttpResponse, readAnswer } from "./read-answer.ts";
import { retryInMs } from "./retry.ts";
import type { ServerTime } from "./server-time.ts";
import { TimeLimit } from "./time-limit.ts";

export interface Limits {
  /** Until the connection stands, its encryption included. */
  readonly connectMs: number;
  /** From then until the answer begins. */
  readonly headersMs: number;
  /** For all tries of a call and the pauses between them; a list has this for each page. */
  readonly callMs: number;
  readonly maxAnswerBytes: number;
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
  readonly method: Ask["method"];
  /** Below the url of the server, with the query. */
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
  /** A response with this status is for the caller, and no reason to try again. */
  readonly isFinalAt?: number;
  /** The content type that the caller expects, if not JSON. */
  readonly accept?: string;
}

/** Takes the body of an answer whose head is there. */
export type Receive = (
  response: IncomingMessage,
  stop: AbortSignal,
  maxBytes: number,
) => HttpResponse | Promise<HttpResponse | Unanswered>;

/** Sends `message` and returns the response of the server, success or error. */
export type Requester = (
  operation: Operation,
  message: Message,
  call: { readonly signal?: AbortSignal | undefined; readonly receive?: Receive },
) => Promise<HttpResponse>;

/**
 * The one way to the server: every call has its credentials, its limits and its retries from here. An answer of any
 * status is returned; only no answer, and an abort by the caller, is thrown.
 */
export function requester({ connection, clock, random, limits, serverTime }: RequesterOptions): Requester {
  const poolFor = connectionPool(connection);
  const { protocol, hostname, port, path = "" } = urlToHttpOptions(new URL(connection.url));
  const server = { protocol, hostname, port };
  const root = String(path).replace(/\/$/, "");

  async function attempt(message: Message, credentials: Credentials, limit: TimeLimit, receive: Receive) {
    const sentAt = clock.now();
    const line = { agent: poolFor(credentials), clock, limits };
    const ask = { server, path: root + message.path, ...toRequest(message, credentials) };
    const reached = await exchange(ask, line, limit.signal);
    if (reached.kind === "unanswered") return reached;
    serverTime.answered(reached.response.headers, sentAt);
    return receive(reached.response, limit.signal, limits.maxAnswerBytes);
  }

  async function settle(message: Message, limit: TimeLimit, receive: Receive): Promise<HttpResponse | Unanswered> {
    let refused: Credentials | undefined;
    for (let tries = 1; ; tries++) {
      const credentials = await limit.over(currentCredentials(connection, { clock, refused }));
      const outcome = await attempt(message, credentials, limit, receive);
      if (limit.signal.aborted) return outcome;
      if (outcome.kind === "answered" && outcome.status === message.isFinalAt) return outcome;
      // Refused credentials may have been replaced meanwhile. Nothing was done for them, so even a write is repeated.
      if (isRefused(outcome) && !refused && typeof connection.credentials === "function") {
        refused = credentials;
        continue;
      }
      const delayMs = retryInMs({
        outcome,
        isWrite: message.method !== "GET",
        attempt: tries,
        remainingMs: limit.remainingMs,
        wallMs: serverTime.nowMs(),
        chance: random.fraction(),
      });
      if (delayMs === undefined) return outcome;
      await sleep(clock, delayMs, limit.signal);
    }
  }

  return async (operation, message, { signal, receive = readAnswer }) => {
    if (signal?.aborted) throw abortedError(operation, signal);
    using limit = new TimeLimit(clock, limits.callMs, signal);
    let outcome: HttpResponse | Unanswered;
    try {
      outcome = await settle(message, limit, receive);
    } catch (error) {
      if (!limit.signal.aborted) throw error;
      outcome = { kind: "unanswered", mayHaveArrived: false, passing: false, because: "" };
    }
    if (signal?.aborted) {
      if (outcome.kind === "answered") outcome.stream?.destroy();
      throw abortedError(operation, signal);
    }
    if (outcome.kind === "answered") return outcome;
    throw unavailable(operation, message, limit.signal.aborted ? lateness(outcome, limits) : outcome);
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

function isRefused(outcome: HttpResponse | Unanswered): boolean {
  return outcome.kind === "answered" && outcome.status === 401;
}

function lateness(outcome: Unanswered, { callMs }: Limits): Unanswered {
  return { ...outcome, because: `not done within ${callMs} ms` };
}

function unavailable(operation: Operation, { method }: Message, { because, cause, mayHaveArrived }: Unanswered) {
  const doubt = mayHaveArrived ? "it may or may not have happened" : "it did not happen";
  const message = `cannot ${describeOperation(operation)}: ${because}${method === "GET" ? "" : `; ${doubt}`}`;
  return new KubeError("unavailable", message, { cause });
}

function abortedError(operation: Operation, { reason }: AbortSignal): KubeError {
  return new KubeError("aborted", `${describeOperation(operation)} was aborted`, { cause: reason });
}
