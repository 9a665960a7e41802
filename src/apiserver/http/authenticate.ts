import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { badRequest, forbidden, StatusError } from "../api/status-error.ts";
import type { Role } from "./authorize.ts";

/** The tokens of the server. The admin token allows everything; the other allows to read everything but Secrets. */
export interface Tokens {
  readonly admin: string;
  readonly readOnly?: string | undefined;
}

export interface Caller {
  readonly name: string;
  /** An impersonated user has no role, unless it is one of the two that exist. */
  readonly role: Role;
  readonly groups: readonly string[];
}

/** The only user with write access. */
export const adminName = "interlock-admin";

const admin: Caller = { name: adminName, role: "admin", groups: ["system:masters", "system:authenticated"] };
const reader: Caller = { name: "interlock-reader", role: "read-only", groups: ["system:authenticated"] };

/** Identifies callers by their bearer token. Compares hashes, so that the duration reveals nothing about a token. */
export function authenticator(tokens: Tokens): (headers: IncomingHttpHeaders) => Caller {
  if (!tokens.admin) throw new TypeError("an admin token is missing; without one no client can write");
  const known = [
    { digest: digest(tokens.admin), caller: admin },
    ...(tokens.readOnly ? [{ digest: digest(tokens.readOnly), caller: reader }] : []),
  ];
  return (headers) => {
    const token = readToken(headers.authorization ?? "");
    if (token === undefined) throw unauthorized();
    const presented = digest(token);
    let found: Caller | undefined;
    for (const { digest: expected, caller } of known) if (timingSafeEqual(expected, presented)) found ??= caller;
    if (!found) throw unauthorized();
    const isImpersonating = Object.keys(headers).some((name) => name.startsWith("impersonate-"));
    return isImpersonating ? impersonate(found, headers) : found;
  };
}

/** The user that the caller impersonates, to test that user's permissions. */
function impersonate(caller: Caller, headers: IncomingHttpHeaders): Caller {
  const name = String(headers["impersonate-user"] ?? "");
  if (caller.role !== "admin") throw noImpersonation(caller, name);
  // Otherwise a request that names groups alone would have the rights of the caller.
  if (name === "") throw badRequest("impersonation needs the name of a user in the header Impersonate-User");
  const existing = [admin, reader].find((one) => one.name === name);
  const groups = String(headers["impersonate-group"] ?? "")
    .split(",")
    .map((group) => group.trim())
    .filter(Boolean);
  return existing ?? { name, role: "none", groups: [...groups, "system:authenticated"] };
}

/** A bearer token, or the password of basic authentication, the only credential that kubectl sends over plain HTTP. */
function readToken(authorization: string): string | undefined {
  const [, scheme = "", value = ""] = /^(Bearer|Basic)\s+(\S+)\s*$/i.exec(authorization) ?? [];
  if (scheme.toLowerCase() === "bearer") return value;
  if (scheme.toLowerCase() !== "basic") return undefined;
  const pair = Buffer.from(value, "base64").toString();
  return pair.slice(pair.indexOf(":") + 1);
}

function digest(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

function unauthorized(): StatusError {
  return new StatusError(401, "Unauthorized");
}

function noImpersonation({ name }: Caller, wanted: string): StatusError {
  const attempt = `User ${JSON.stringify(name)} cannot impersonate resource "users" in API group "" at the cluster scope`;
  return forbidden({ group: "", plural: "users", kind: "User" }, wanted, attempt);
}
