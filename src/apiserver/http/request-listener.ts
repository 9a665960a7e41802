import type { IncomingMessage, ServerResponse } from "node:http";
import { KubeError } from "../../kube/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { badRequest, StatusError } from "../api/status-error.ts";
import type { Caller } from "./authenticate.ts";
import { dispatch } from "./dispatch.ts";
import type { Exchange } from "./exchange.ts";
import { refusePlainCredentials } from "./plain-tokens.ts";
import { sendStatus, sendText } from "./send.ts";

export interface ListenerOptions extends Pick<Exchange, "api" | "admission" | "watches" | "bodies" | "log"> {
  readonly authenticate: (headers: IncomingMessage["headers"]) => Caller;
  readonly pending: PendingResponses;
  /** Whether a token that comes over plain HTTP is accepted. */
  readonly acceptPlainTokens: boolean;
}

/** Responds to every request: any internal error becomes a Status, never a crashed server. */
export function requestListener(options: ListenerOptions) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    options.pending.add(response);
    respond(request, response, options).catch((error: unknown) => fail(error, request, response, options));
  };
}

async function respond(request: IncomingMessage, response: ServerResponse, options: ListenerOptions) {
  const { segments, query } = parseUrl(request.url ?? "/");
  if (sendHealth(response, segments, query)) return;
  if (!options.acceptPlainTokens) refusePlainCredentials(request);
  const caller = segments[0] === "version" ? anonymousCaller : options.authenticate(request.headers);
  const method = request.method ?? "GET";
  await dispatch({ ...options, request, response, method, segments, query, caller });
}

const anonymousCaller: Caller = { name: "system:anonymous", role: "read-only", groups: ["system:unauthenticated"] };

function parseUrl(url: string): { segments: string[]; query: URLSearchParams } {
  const at = url.indexOf("?");
  const path = at < 0 ? url : url.slice(0, at);
  try {
    const segments = path.includes("%") ? path.split("/").map(decodeURIComponent) : path.split("/");
    return { segments: trimSegments(segments), query: new URLSearchParams(at < 0 ? "" : url.slice(at + 1)) };
  } catch {
    throw badRequest("the path of the request is not valid UTF-8");
  }
}

/** Without the empty segments that come from a slash at the beginning and at the end. */
function trimSegments(segments: string[]): string[] {
  const from = segments[0] === "" ? 1 : 0;
  const to = segments.length > from && segments.at(-1) === "" ? -1 : undefined;
  return segments.slice(from, to);
}

function fail(error: unknown, request: IncomingMessage, response: ServerResponse, { log }: ListenerOptions) {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // Otherwise the unread rest of the body would be parsed as the next request.
  if (!request.complete) response.setHeader("Connection", "close");
  sendStatus(response, toStatusError(error, request, log).status);
}

function toStatusError(error: unknown, request: IncomingMessage, log: Logger | undefined): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof KubeError && error.code === "unavailable") {
    // A write may have reached the disk anyway: only a read may be retried.
    const details = request.method === "GET" ? { retryAfterSeconds: 1 } : {};
    return new StatusError(503, `the store does not respond: ${error.message}`, {
      details,
    });
  }
  log?.error("request failed", { method: request.method, path: request.url?.split("?")[0], error });
  return new StatusError(500, "Internal error occurred", { details: {} });
}

const endpoints = new Set(["healthz", "livez", "readyz"]);

/** Responds to a health probe, which needs no token. Returns false for any other request. */
function sendHealth(response: ServerResponse, segments: readonly string[], query: URLSearchParams): boolean {
  const [endpoint = "", check] = segments;
  if (!endpoints.has(endpoint) || segments.length > 2 || (check !== undefined && check !== "ping")) return false;
  const verbose = query.has("verbose");
  sendText(response, 200, verbose ? `[+]ping ok\n${endpoint} check passed\n` : "ok");
  return true;
}

/** The responses that were not sent yet. */
export class PendingResponses {
  readonly #responses = new Set<ServerResponse>();
  #closing = false;

  add(response: ServerResponse): void {
    this.#responses.add(response);
    if (this.#closing) response.shouldKeepAlive = false;
    response.on("close", () => {
      this.#responses.delete(response);
      if (this.#closing) response.req.socket.end();
    });
  }

  /** From now on every response is the last one on its connection. */
  close(): void {
    this.#closing = true;
    for (const response of this.#responses) response.shouldKeepAlive = false;
  }
}
