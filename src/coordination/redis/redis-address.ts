import type { Guarantee } from "../locks/locks.ts";

/** The address of one Redis, or of the servers that name the current primary. */
export type RedisAddress =
  | { readonly kind: "server"; readonly node: RedisNode; readonly access: RedisAccess }
  | { readonly kind: "sentinel"; readonly nodes: readonly RedisNode[]; readonly access: RedisAccess; name: string }
  | { readonly kind: "cluster"; readonly nodes: readonly RedisNode[]; readonly access: RedisAccess };

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

export interface RedisAccess {
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly db?: number;
}

const form = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^/?#]*))?$/;

/**
 * Reads `redis://user:password@host:6379/0` (`rediss` with TLS), `redis+sentinel://…@host:26379,host:26379/name` and
 * `redis+cluster://…@host:6379,host:6379`. Errors do not repeat the text, which may hold a password.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const [, scheme, kind, who = "", hosts = "", path = ""] = form.exec(url) ?? [];
  const nodes = hosts.split(",").map((text) => parseNode(text, kind === "sentinel" ? 26_379 : 6_379));
  const [node] = nodes;
  if (!scheme || !node) throw new TypeError("not a Redis URL");
  const access = { tls: scheme === "rediss", ...parseCredentials(who) };
  switch (kind) {
    case "sentinel":
      if (!path) throw new TypeError("the URL does not end with the Sentinels' name of the primary");
      return { kind, nodes, access, name: decode(path) };
    case "cluster":
      return { kind, nodes, access };
    default:
      return { kind: "server", node, access: { ...access, ...(path && { db: parseDatabase(path) }) } };
  }
}

/** The guarantee of this Redis: a failover loses writes that were not replicated yet. */
export function redisGuarantee({ kind }: RedisAddress): Guarantee {
  return kind === "server" ? "single" : "async-replicated";
}

/** First part of all keys. In a Cluster everything is in one slot, and so on one server. */
export function keyPrefix({ kind }: RedisAddress): string {
  return kind === "cluster" ? "{interlock}:" : "interlock:";
}

function parseNode(text: string, usualPort: number): RedisNode {
  // Brackets are around an IPv6 address.
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (!host || Number(port) > 65_535) throw new TypeError("a host in the URL of Redis is not host:port");
  return { host, port: port === undefined ? usualPort : Number(port) };
}

function parseDatabase(text: string): number {
  if (!/^\d+$/.test(text)) throw new TypeError("the database in the URL of Redis is not a number");
  return Number(text);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError("a % in the URL of Redis does not begin an escape such as %40");
  }
}

function parseCredentials(who: string): Pick<RedisAccess, "username" | "password"> {
  if (!who) return {};
  const colon = who.indexOf(":");
  const [username, password] = colon < 0 ? [who, ""] : [who.slice(0, colon), who.slice(colon + 1)];
  return {
    ...(username && { username: decode(username) }),
    ...(password && { password: decode(password) }),
  };
}
