import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { StatusError } from "../api/status-error.ts";

/**
 * Throws 403 if the request carries credentials over plain HTTP, before they are compared with anything: the response is
 * the same for a good and a bad token.
 */
export function refusePlainCredentials({ socket, headers }: IncomingMessage): void {
  if ((socket as Partial<TLSSocket>).encrypted || headers.authorization === undefined) return;
  const fix = "use https:// with the certificate in the kubeconfig; this token was sent in clear, so replace it";
  throw new StatusError(403, `tokens are accepted over TLS only: ${fix}`, { details: {} });
}

/** Whether only this machine reaches an address. A name counts only if it is `localhost`. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === "localhost";
  return loopback.check(host, version === 6 ? "ipv6" : "ipv4");
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
