import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { StatusError } from "../api/status-error.ts";

/** Who may use the server. Whoever has the admin token may do everything, the other may look. */
export interface Tokens {
  readonly admin: string;
  readonly readOnly?: string | undefined;
}

export interface Caller {
  readonly name: string;
  readonly role: "admin" | "read-only";
  readonly groups: readonly string[];
}

const admin: Caller = { name: "interlock-admin", role: "admin", groups: ["system:masters", "system:authenticated"] };
const reader: Caller = { name: "interlock-reader", role: "read-only", groups: ["system:authenticated"] };

/** Tells callers apart by their bearer token. Compares hashes, so that time tells nothing about a token. */
export function authenticator(tokens: Tokens): (headers: IncomingHttpHeaders) => Caller {
  if (!tokens.admin) throw new TypeError("an admin token is missing: without one, nobody could write");
  const known = [
    { digest: digest(tokens.admin), caller: admin },
    ...(tokens.readOnly ? [{ digest: digest(tokens.readOnly), caller: reader }] : []),
  ];
  return ({ authorization, ...headers }) => {
    const token = tokenIn(authorization ?? "");
    if (token === undefined) throw unauthorized();
    const presented = digest(token);
    let found: Caller | undefined;
    for (const { digest: expected, caller } of known) if (timingSafeEqual(expected, presented)) found ??= caller;
    if (!found) throw unauthorized();
    if (headers["impersonate-user"] !== undefined) throw noImpersonation();
    return found;
  };
}

/** A bearer token, or the password of basic authentication: all that kubectl sends over plain HTTP. */
function tokenIn(authorization: string): string | undefined {
  const [, scheme = "", value = ""] = /^(Bearer|Basic)\s+(\S+)\s*$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  if (scheme.toLowerCase() !== "basic") return undefined;
  const pair = Buffer.from(value, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized", { reason: "Unauthorized" });
}

function noImpersonation(): StatusError {
  const message = "this embedded API server has no impersonation: use the admin token or the read-only token";
  return new StatusError(403, message, { reason: "Forbidden" });
}
