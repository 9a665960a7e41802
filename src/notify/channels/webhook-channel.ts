import { createHmac } from "node:crypto";
import type { Channel } from "../channel.ts";
import type { Addresses } from "./addresses.ts";
import { post } from "./post.ts";

export interface WebhookOptions {
  readonly url: string;
  /** Signs each request, so that the receiver can verify its sender. */
  readonly secret: string | undefined;
  readonly addresses: Addresses;
  /** Milliseconds since 1970, for the signature. */
  readonly nowMs: () => number;
}

/**
 * Posts JSON to a URL. `Idempotency-Key` is the same for every attempt of a notice. `X-Interlock-Signature` is
 * `sha256=` and the HMAC, in hexadecimal, of the `X-Interlock-Timestamp` header, a dot and the body.
 */
export function webhookChannel({ url, secret, addresses, nowMs }: WebhookOptions): Channel {
  return {
    name: "webhook",
    style: "notices",
    deliver({ key, title, next, facts, notice }, signal) {
      const body = JSON.stringify({ key, title, facts, next, ...notice });
      const headers = { "idempotency-key": key, ...(secret && signatureHeaders(body, secret, nowMs())) };
      return post({ url, body, headers }, addresses, signal);
    },
  };
}

function signatureHeaders(body: string, secret: string, nowMs: number) {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const mac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "x-interlock-timestamp": timestamp, "x-interlock-signature": `sha256=${mac}` };
}
