import type { Clock } from "../../time/index.ts";
import { type Key, keyHash } from "../key.ts";
import type { NewConnection, RedisConnection } from "./connection.ts";
import type { LinkListener, LockLink, Replies, Reply } from "./lock-link.ts";
import { enterScript, lockScript } from "./lock-script.ts";
import { script } from "./script.ts";

export interface RedisLockLinkOptions {
  /** First part of every key and channel, so that several installations can share a server. */
  readonly prefix: string;
  /** The client part of our holders: pushes to any of them come on its channel. */
  readonly clientId: string;
  /** No lease lasts longer. A server that lost its data grants nothing for as long. */
  readonly maxTtlMs: number;
  readonly clock: Clock;
  /** Called with the remaining wait when a server grants nothing because it may have forgotten leases. */
  readonly quarantined?: (ms: number) => void;
}

const lock = script(lockScript);
const enter = script(enterScript);
const rememberedNames = 4_096;

/** Lock operations over a real connection. */
export function redisLockLink(connection: RedisConnection, options: RedisLockLinkOptions): LockLink {
  const { prefix, clientId, maxTtlMs, clock, quarantined } = options;
  const channel = `${prefix}w:${clientId}`;
  const fences = `${prefix}fence`;
  const nameOf = lockNames(prefix);
  let listener: LinkListener | undefined;
  let serverStartedAt: number | undefined;

  connection.use({
    async prepare(fresh) {
      await fresh.subscribe(channel);
      const { waitMs, upMs } = await enterServer(fresh, fences, `${prefix}run`, maxTtlMs);
      serverStartedAt = upMs === undefined ? undefined : clock.now() - upMs;
      if (waitMs > 0) quarantined?.(waitMs);
    },
    up: () => listener?.up(),
    down: () => listener?.down(),
    message(to, message) {
      if (to === channel) listener?.push(message);
    },
  });

  return {
    get isUp() {
      return connection.isUp;
    },
    get serverStartedAt() {
      return serverStartedAt;
    },
    send(operations) {
      const keys = [fences];
      const args: (string | number)[] = [0];
      let reserved = 0;
      for (const { mode, key, holder, ttlMs, number, tail } of operations) {
        if (mode === "a" || mode === "t") reserved += number;
        keys.push(nameOf(key));
        if (mode === "r") args.push(mode, holder);
        else args.push(mode, holder, ttlMs, number, tail);
      }
      args[0] = reserved;
      return connection.run(lock, keys, args).then(replies);
    },
    listen(to) {
      listener = to;
    },
    close: () => connection.close(),
  };
}

function replies(reply: unknown): Replies {
  if (typeof reply === "number") return { each: [reply] };
  const [serverMs, ...each] = reply as readonly Reply[];
  return { serverMs: serverMs as number, each };
}

async function enterServer(connection: NewConnection, fences: string, run: string, maxTtlMs: number) {
  const server = await connection.info("server");
  const isReplicated = connection.guarantee === "async-replicated" || (await hasReplicas(connection));
  // A server that writes everything to disk before it responds loses nothing. A replica may lack the latest writes.
  const forgetsNothing = !isReplicated && (await writesEverything(connection));
  const args = [
    server.get("run_id") ?? "unknown",
    forgetsNothing ? 0 : maxTtlMs,
    // The uptime of a replica is irrelevant: its former primary may have granted a lock a moment ago.
    isReplicated ? -1 : uptimeMs(server),
  ];
  const waitMs = Number(await connection.run(enter, [fences, run], args));
  return { waitMs, upMs: isReplicated ? undefined : uptimeMs(server) };
}

/** Whether the server has replicas, or was one: after a failover another server has the same name. */
async function hasReplicas(connection: NewConnection): Promise<boolean> {
  const replication = await connection.info("replication");
  return Number(replication.get("connected_slaves") ?? 0) > 0 || !/^0*$/.test(replication.get("master_replid2") ?? "");
}

async function writesEverything(connection: NewConnection): Promise<boolean> {
  return (await connection.setting("appendfsync")) === "always" && (await connection.setting("appendonly")) === "yes";
}

/** Whole seconds of the wall clock, so that a server that just started may report one. */
function uptimeMs(server: ReadonlyMap<string, string>): number {
  return Math.max(0, Number(server.get("uptime_in_seconds") ?? 0) - 1) * 1_000;
}

/** Names of locks in Redis. Hashing costs more than the rest of an acquisition, so the recent ones are remembered. */
function lockNames(prefix: string) {
  const names = new Map<Key, string>();
  return (key: Key) => {
    let name = names.get(key);
    if (!name) {
      if (names.size >= rememberedNames) names.clear();
      name = `${prefix}{${keyHash(key)}}`;
      names.set(key, name);
    }
    return name;
  };
}
