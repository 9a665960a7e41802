import { Agenda } from "../../time/index.ts";
import { type LockTableOptions, locksOver } from "../locks/lock-table.ts";
import type { Locks } from "../locks/locks.ts";
import type { RedisConnection } from "./connection.ts";
import { redisLockLink } from "./redis-lock-link.ts";
import { RedisLockStore } from "./redis-lock-store.ts";

export interface RedisLocksOptions extends LockTableOptions {
  readonly connection: RedisConnection;
  /** Default: the connection's. */
  readonly prefix?: string;
  /** No lease may be asked for longer. Default 60 s. */
  readonly maxTtlMs?: number;
  /** Called with the remaining wait when Redis started a moment ago: leases that it may have forgotten have to run out. */
  readonly quarantined?: (ms: number) => void;
}

/**
 * Locks in one Redis. Safe as long as that server keeps acknowledged writes or, after a restart that lost data, is
 * given the time of the longest lease; then nothing is granted and holders may renew. The same goes for a replica that
 * takes over (Sentinel, Cluster), except that the old primary may be unaware of it: there only fences keep late writes out.
 */
export function redisLocks(options: RedisLocksOptions): Locks {
  const { connection, clock, random, who = "unknown", maxTtlMs = 60_000 } = options;
  const { prefix = connection.prefix } = options;
  const clientId = random.id();
  const link = redisLockLink(connection, {
    prefix,
    clientId,
    maxTtlMs,
    clock,
    ...(options.quarantined && { quarantined: options.quarantined }),
  });
  const store = new RedisLockStore({
    clock,
    random,
    agenda: new Agenda(clock, 4),
    link,
    who,
    guarantee: connection.guarantee,
  });
  return locksOver(store, { ...options, clientId, maxTtlMs: maxTtlMs });
}
