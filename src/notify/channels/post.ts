import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { Delivery } from "../channel.ts";
import { type Addresses, AddressRefused, refusal } from "./addresses.ts";

export interface OutgoingRequest {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type DeliveryFailure = Exclude<Delivery, { status: "success" }>;

/** The response of a receiver: the body of a success, or why there is none. */
export type Exchange =
  | { readonly kind: "success"; readonly body: string }
  | { readonly kind: "failure"; readonly failure: DeliveryFailure };

/** Posts once, to a receiver whose status is its whole response: a body that never ends must not cause a second post. */
export async function post(request: OutgoingRequest, addresses: Addresses, signal: AbortSignal): Promise<Delivery> {
  const outcome = await exchange(request, addresses, signal, ignoreBody);
  return outcome.kind === "success" ? { status: "success" } : outcome.failure;
}

/**
 * Posts once, and returns the body of a success. Follows no redirect: it could lead to a denied address. Errors contain
 * only the host of the URL and the status of the response: everything else may contain a secret.
 */
export async function exchange(
  request: OutgoingRequest,
  addresses: Addresses,
  signal: AbortSignal,
  takeBody: (response: IncomingMessage) => Promise<string> = readBody,
): Promise<Exchange> {
  const { hostname } = new URL(request.url);
  try {
    const response = await send(request, addresses, signal);
    const failure = toFailure(response, hostname);
    if (!failure) return { kind: "success", body: await takeBody(response) };
    response.destroy();
    return { kind: "failure", failure };
  } catch (error) {
    return { kind: "failure", failure: connectionFailure(error, hostname, signal) };
  }
}

/** Describes a request without a response. Its error contains no more than the host and a code. */
export function connectionFailure(error: unknown, hostname: string, signal: AbortSignal): DeliveryFailure {
  if (error instanceof AddressRefused) return { status: "refused", error: error.message };
  if (signal.aborted) return { status: "timeout", error: `${hostname} did not respond in time` };
  const { code } = error as NodeJS.ErrnoException;
  return { status: "failed", error: `${hostname} cannot be reached${code ? `: ${code}` : ""}` };
}

function send({ url, body, headers }: OutgoingRequest, addresses: Addresses, signal: AbortSignal) {
  const { protocol, hostname } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, "");
  // Addresses are not looked up, so the lookup would not check them.
  if (isIP(address) && !addresses.allows(address)) return Promise.reject(refusal(address));
  return new Promise<IncomingMessage>((resolve, reject) => {
    const length = String(Buffer.byteLength(body));
    const request = (protocol === "https:" ? requestHttps : requestHttp)(url, {
      method: "POST",
      // The connection is closed: the next one is checked again.
      agent: false,
      lookup: addresses.lookup,
      headers: { "content-type": "application/json", "content-length": length, ...headers },
      signal,
    });
    request.once("error", reject);
    request.once("response", resolve);
    request.end(body);
  });
}

/** No service answers with more; a longer body is cut, and what needs it fails. */
const maxBodyBytes = 256 * 1024;

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxBodyBytes) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function ignoreBody(response: IncomingMessage): Promise<string> {
  response.destroy();
  return "";
}

function toFailure(
  { statusCode: status = 0, headers }: IncomingMessage,
  hostname: string,
): DeliveryFailure | undefined {
  if (status >= 200 && status < 300) return undefined;
  const error = `${hostname} responded ${status}`;
  if (status >= 300 && status < 400) return { status: "refused", error: `${error}; redirects are not followed` };
  const isTransient = status >= 500 || [408, 425, 429].includes(status);
  if (!isTransient) return { status: "refused", error };
  // The services give seconds. The other form of the header, a date, is ignored: the usual backoff is used then.
  const seconds = /^\d{1,6}$/.exec(headers["retry-after"] ?? "")?.[0];
  return { status: "failed", error, ...(seconds ? { retryAfterMs: Number(seconds) * 1_000 } : {}) };
}
