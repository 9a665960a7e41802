import { parse, type z } from "../../schema/index.ts";
import { backoffMs, type Clock, type Random, sleep, timeLimit } from "../../time/index.ts";
import { isRemoteError, RemoteError } from "../remote-error.ts";
import { toRemoteError } from "./failure.ts";

export interface ServerOptions {
  /** The URL of the server, as operators write it. */
  readonly url: string;
  /** Called for each request, because tokens change. */
  readonly token: AccessToken;
  /** The maximum time of one request, its response included. */
  readonly timeLimitMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

interface RestOptions extends ServerOptions {
  /** The name of the server, for messages. */
  readonly name: string;
  /** The path of the API on the server, such as `api/v4`. */
  readonly basePath: string;
  /** Returns the header that authenticates with the token. */
  readonly credentials: (token: string) => {
    readonly headers: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
  };
  /** By status, the action of an operator that a response calls for. */
  readonly fixes: Readonly<Record<number, string>>;
}

export interface RestRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Relative to the base path; parts from outside are encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface RestResponse {
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** Sends a request; rejects with a `RemoteError`, or with the signal's reason. */
export type Rest = (request: RestRequest) => Promise<RestResponse>;

const maxTries = 4;
const backoff = { baseMs: 250, maxMs: 4_000, jitter: 0.5 };
/** A longer wait is returned to the caller, who retries later. */
const maxWaitMs = 10_000;

/**
 * A client of a server's REST API. Only requests that change nothing are retried: after any other failure the caller
 * first checks whether the request took effect.
 */
export function restClient(options: RestOptions): Rest {
  return async (request) => {
    for (let tries = 1; ; tries++) {
      try {
        return await sendWithToken(request, options);
      } catch (error) {
        const waitMs =
          tries < maxTries ? retryInMs(request, error, { tries, fraction: options.random.fraction() }) : undefined;
        if (waitMs === undefined) throw error;
        await sleep(options.clock, waitMs, request.signal);
      }
    }
  };
}

function retryInMs({ method }: RestRequest, error: unknown, { tries, fraction }: { tries: number; fraction: number }) {
  if (method !== "GET" || !isRemoteError(error, "unavailable")) return undefined;
  const { retryAfterMs } = error;
  // Jitter: many clients get the same delay, and should not all return at once.
  const waitMs = retryAfterMs === undefined ? backoffMs(tries, backoff, fraction) : retryAfterMs * (1 + fraction / 4);
  return waitMs <= maxWaitMs ? waitMs : undefined;
}

/** A rejected request has changed nothing, so any request is repeated if there is a new token. */
async function sendWithToken(request: RestRequest, options: RestOptions): Promise<RestResponse> {
  const token = await options.token({ refused: false });
  try {
    return await sendOnce(request, token, options);
  } catch (error) {
    if (!isRemoteError(error) || error.status !== 401) throw error;
    const other = await options.token({ refused: true });
    if (other === token) throw error;
    return await sendOnce(request, other, options);
  }
}

async function sendOnce(request: RestRequest, token: string, options: RestOptions): Promise<RestResponse> {
  const { signal } = request;
  signal?.throwIfAborted();
  const { clock, timeLimitMs, name } = options;
  using limit = timeLimit(clock, timeLimitMs, signal);
  try {
    return await send({ ...request, signal: limit.signal }, token, options);
  } catch (error) {
    signal?.throwIfAborted();
    if (isRemoteError(error)) throw error;
    const because = limit.signal.aborted ? `did not respond within ${timeLimitMs / 1_000} s` : describeCause(error);
    throw new RemoteError("unavailable", `${name} ${because}`);
  }
}

async function send(
  request: RestRequest & { readonly signal: AbortSignal },
  token: string,
  options: RestOptions,
): Promise<RestResponse> {
  const { headers, secrets } = options.credentials(token);
  const response = await fetch(toUrl(request, options), {
    method: request.method,
    headers: {
      ...headers,
      accept: "application/json",
      ...(request.body !== undefined && { "content-type": "application/json" }),
    },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    // A redirect could send our token to another server.
    redirect: "manual",
    signal: request.signal,
  });
  const text = await readBody(response, options.name);
  if (!response.ok) throw toRemoteError({ request, response, text, secrets, wallMs: options.clock.wallMs() }, options);
  return { body: parseBody(text, options.name), headers: response.headers };
}

function toUrl({ path, query = {} }: RestRequest, { url, basePath }: RestOptions): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return `${url.replace(/\/+$/, "")}/${basePath}/${path}${search.size > 0 ? `?${search}` : ""}`;
}

function parseBody(text: string, name: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new RemoteError("refused", `${name} responded with something that is not JSON; check its URL`);
  }
}

function describeCause(error: unknown): string {
  const cause = (error as { cause?: { code?: unknown } }).cause?.code;
  return `cannot be reached${typeof cause === "string" ? `: ${cause}` : ""}`;
}

const maxBytes = 64 * 1024 * 1024;

/** Reads the text of a response, up to a limit that no regular response exceeds. */
async function readBody(response: Response, name: string): Promise<string> {
  if (!response.body) return "";
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > maxBytes) throw new RemoteError("refused", `${name} responded with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the current token. `refused`: the server rejects the last one, so the source is read again. */
export type AccessToken = (state: { readonly refused: boolean }) => Promise<string>;

/** Parses a response; `what` is its name in errors: `GitLab's merge request`. Fields that the schema lacks are ignored. */
export function parseResponse<S extends z.ZodType>(schema: S, body: unknown, what: string): z.output<S> {
  const parsed = parse(schema, body);
  if (parsed.kind === "valid") return parsed.value as z.output<S>;
  const problems = parsed.problems.slice(0, 3).map(({ path, wrong }) => (path ? `\`${path}\` ${wrong}` : wrong));
  throw new RemoteError("refused", `${what} is invalid: ${problems.join(", ")}; check the version of the server`);
}
