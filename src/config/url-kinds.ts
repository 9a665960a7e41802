import { z } from "../schema/index.ts";
import { type Kind, secretKind, settingKind } from "./kind.ts";
import type { Secret } from "./secret.ts";

/** The address of a server that is called over HTTP. It is printed, so no credentials may be in it. */
export function httpUrl(): Kind<string> {
  return settingKind({
    expects: "a URL such as https://host/path, without a user or password",
    schema: z.string().refine((text) => {
      const { protocol = "", username, password } = URL.canParse(text) ? new URL(text) : {};
      return ["http:", "https:"].includes(protocol) && !username && !password;
    }),
  });
}

/** Where Redis is, credentials included. */
export function redisUrl(): Kind<Secret> {
  return secretKind(
    {
      expects:
        "redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379, with user:password@ before the hosts and rediss for TLS if need be, and # / ? @ in the password percent-encoded",
      limits:
        "`redis://host:6379`, `redis+sentinel://host:26379,host:26379/name` or `redis+cluster://host:6379,host:6379`; `rediss` for TLS, `user:password@` before the hosts. Never printed.",
      wrong: "is not a Redis URL (it is not repeated here, as it may hold a password)",
    },
    isRedisUrl,
  );
}

/** Where PostgreSQL is, credentials included. */
export function postgresUrl(): Kind<Secret> {
  return secretKind(
    {
      expects:
        "postgres://user:password@host:5432/database, with ?sslmode=verify-full for TLS and # / ? @ in the password percent-encoded",
      limits: "A `postgres://` or `postgresql://` URL. Never printed.",
      wrong: "is not a PostgreSQL URL (it is not repeated here, as it may hold a password)",
    },
    (text) => isServerUrl(text, ["postgres:", "postgresql:"]),
  );
}

function isRedisUrl(text: string): boolean {
  const [, scheme, kind, who = "", hosts = "", path = ""] =
    /^(rediss?)\+(sentinel|cluster):\/\/([^@]*@)?([^@/]*)(.*)$/.exec(text) ?? [];
  const protocols = ["redis:", "rediss:"];
  if (!kind) return isServerUrl(text, protocols);
  const isNamed = kind === "sentinel" ? /^\/[^/]+$/.test(path) : path === "";
  return isNamed && hosts.split(",").every((host) => isServerUrl(`${scheme}://${who}${host}${path}`, protocols));
}

function isServerUrl(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text) || /\s/.test(text)) return false;
  const { protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  // A bare # / or ? in a password ends the host too early: what follows, and the @, then land in these parts.
  const cutShort = hash !== "" || `${pathname}${search}`.includes("@");
  const isDecodable = canDecode(`${username}${password}${pathname}`);
  return protocols.includes(protocol) && hostname !== "" && !cutShort && isDecodable;
}

/** A bare % in a password cannot be decoded, which would only be found when the client connects. */
function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
