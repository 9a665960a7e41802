import { backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import type { AccessToken } from "../access-token.ts";
import { isRemoteError, RemoteError } from "../remote-error.ts";
import { failureOf } from "./failure.ts";
import { readBody } from "./read-body.ts";

export interface RestOptions {
  /** How people call the server. */
  readonly name: string;
  /** What all paths are under, without a slash at its end. */
  readonly url: string;
  /** Asked for each request, because tokens change. */
  readonly token: AccessToken;
  /** Who we are, with this token. */
  readonly credentials: (token: string) => {
    readonly headers: Readonly<Record<string, string>>;
    readonly secrets: readonly string[];
  };
  /** The longest that one request may take, its answer included. */
  readonly timeLimitMs: number;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Ask {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the server's URL, parts that come from outside encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface RestResponse {
  /** Parsed JSON; undefined where there is none. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** Asks a server; rejects with a `RemoteError`, or with the signal's reason. */
export type Rest = (ask: Ask) => Promise<RestResponse>;

const maxTries = 4;
const backoff = { baseMs: 250, maxMs: 4_000, jitter: 0.5 };
/** Who is asked to wait longer tells so, and comes back. */
const longestWaitMs = 10_000;

/**
 * A server's REST API. Only what changes nothing is tried again: whoever else may have been heard looks first what came
 * of it.
 */
export function restClient(options: RestOptions): Rest {
  return async (ask) => {
    for (let tries = 1; ; tries++) {
      try {
        return await asOurselves(ask, options);
      } catch (error) {
        const waitMs =
          tries < maxTries ? retryInMs(ask, error, { tries, chance: options.random.fraction() }) : undefined;
        if (waitMs === undefined) throw error;
        await sleep(options.clock, waitMs, ask.signal);
      }
    }
  };
}

function retryInMs({ method }: Ask, error: unknown, { tries, chance }: { tries: number; chance: number }) {
  if (method !== "GET" || !isRemoteError(error, "unavailable")) return undefined;
  const { retryAfterMs } = error;
  // Many are told the same moment; they should not all come back then.
  const waitMs = retryAfterMs === undefined ? backoffMs(tries, backoff, chance) : retryAfterMs * (1 + chance / 4);
  return waitMs <= longestWaitMs ? waitMs : undefined;
}

/** Who is not let in has changed nothing: whatever was asked is asked once more if there is another token by now. */
async function asOurselves(ask: Ask, options: RestOptions): Promise<RestResponse> {
  const token = await options.token({ refused: false });
  try {
    return await once(ask, token, options);
  } catch (error) {
    if (!isRemoteError(error) || error.status !== 401) throw error;
    const other = await options.token({ refused: true });
    if (other === token) throw error;
    return await once(ask, other, options);
  }
}

async function once(ask: Ask, token: string, options: RestOptions): Promise<RestResponse> {
  const { signal } = ask;
  signal?.throwIfAborted();
  const { clock, timeLimitMs, name } = options;
  const late = new AbortController();
  const timer = clock.after(timeLimitMs, () => late.abort());
  try {
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    return await send({ ...ask, signal: either }, token, options);
  } catch (error) {
    signal?.throwIfAborted();
    if (isRemoteError(error)) throw error;
    const because = late.signal.aborted ? `did not answer within ${timeLimitMs / 1_000} s` : unreachable(error);
    throw new RemoteError("unavailable", `${name} ${because}`);
  } finally {
    timer.cancel();
  }
}

async function send(
  ask: Ask & { readonly signal: AbortSignal },
  token: string,
  options: RestOptions,
): Promise<RestResponse> {
  const { headers, secrets } = options.credentials(token);
  const response = await fetch(urlOf(ask, options), {
    method: ask.method,
    headers: {
      ...headers,
      accept: "application/json",
      ...(ask.body !== undefined && { "content-type": "application/json" }),
    },
    ...(ask.body !== undefined && { body: JSON.stringify(ask.body) }),
    // The next server would get our token.
    redirect: "manual",
    signal: ask.signal,
  });
  const text = await readBody(response, options.name);
  if (!response.ok)
    throw failureOf({ ask, response, text, secrets, name: options.name, wallMs: options.clock.wallMs() });
  return { body: parsed(text, options.name), headers: response.headers };
}

function urlOf({ path, query = {} }: Ask, { url }: RestOptions): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  return `${url}/${path}${search.size > 0 ? `?${search}` : ""}`;
}

function parsed(text: string, name: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new RemoteError("refused", `${name} answered with something that is not JSON; is its URL right?`);
  }
}

function unreachable(error: unknown): string {
  const cause = (error as { cause?: { code?: unknown } }).cause?.code;
  return `cannot be reached${typeof cause === "string" ? `: ${cause}` : ""}`;
}
