import type { FastifyReply, FastifyRequest } from "fastify";

/** The cookies of the console. */
export interface CookieJar {
  readSession(request: Pick<FastifyRequest, "headers">): string | undefined;
  setSession(reply: FastifyReply, value: string, expiresAtMs: number): void;
  clearSession(reply: FastifyReply): void;
  /** The pending log-in at an identity provider. */
  readPending(request: Pick<FastifyRequest, "headers">): string | undefined;
  setPending(reply: FastifyReply, value: string): void;
  clearPending(reply: FastifyReply): void;
}

export interface CookieOptions {
  /** Whether browsers reach the console over TLS. */
  readonly isSecure: boolean;
  /** Browsers send the cookies of a host to all of its ports, so the port is part of the name. */
  readonly port: () => number;
}

export function cookieJar({ isSecure, port }: CookieOptions): CookieJar {
  // Browsers accept this prefix only over TLS, for this host alone and for all of its paths.
  const prefix = isSecure ? "__Host-" : "";
  const fullName = (name: string) => `${prefix}interlock-${name}-${port()}`;
  const set = (reply: FastifyReply, name: string, value: string, attributes: string) => {
    reply.header(
      "set-cookie",
      `${fullName(name)}=${value}; Path=/; HttpOnly; ${attributes}${isSecure ? "; Secure" : ""}`,
    );
  };
  return {
    readSession: (request) => readCookie(request.headers.cookie, fullName("session")),
    setSession: (reply, value, expiresAtMs) =>
      set(reply, "session", value, `SameSite=Strict; Expires=${new Date(expiresAtMs).toUTCString()}`),
    clearSession: (reply) => set(reply, "session", "", "SameSite=Strict; Max-Age=0"),
    readPending: (request) => readCookie(request.headers.cookie, fullName("log-in")),
    // Lax: the browser comes back from the identity provider, which is another site.
    setPending: (reply, value) => set(reply, "log-in", value, "SameSite=Lax; Max-Age=600"),
    clearPending: (reply) => set(reply, "log-in", "", "SameSite=Lax; Max-Age=0"),
  };
}

function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? "").split(";")) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined;
  }
  return undefined;
}
