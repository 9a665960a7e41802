import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { Delivery } from "../channel.ts";
import { type Addresses, AddressRefused, refusal } from "./addresses.ts";

export interface Letter {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Posts once. Follows no redirect: it could lead to a denied address. Errors contain only the host of the URL and the
 * status of the response: everything else may contain a secret.
 */
export async function post(letter: Letter, addresses: Addresses, signal: AbortSignal): Promise<Delivery> {
  const { hostname } = new URL(letter.url);
  try {
    return toDelivery(await send(letter, addresses, signal), hostname);
  } catch (error) {
    if (error instanceof AddressRefused) return { status: "refused", error: error.message };
    if (signal.aborted) return { status: "timeout", error: `${hostname} did not respond in time` };
    const { code } = error as NodeJS.ErrnoException;
    return { status: "failed", error: `${hostname} cannot be reached${code ? `: ${code}` : ""}` };
  }
}

function send({ url, body, headers }: Letter, addresses: Addresses, signal: AbortSignal): Promise<number> {
  const { protocol, hostname } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, "");
  // Addresses are not looked up, so the lookup would not check them.
  if (isIP(address) && !addresses.allows(address)) return Promise.reject(refusal(address));
  return new Promise((resolve, reject) => {
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
    request.once("response", (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.end(body);
  });
}

function toDelivery(status: number, hostname: string): Delivery {
  if (status >= 200 && status < 300) return { status: "success" };
  const error = `${hostname} responded ${status}`;
  if (status >= 300 && status < 400) return { status: "refused", error: `${error}; redirects are not followed` };
  const isTransient = status >= 500 || [408, 425, 429].includes(status);
  return { status: isTransient ? "failed" : "refused", error };
}
