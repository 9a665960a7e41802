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
  /** The max ttl of a lease. Default 60 s. */
  readonly maxTtlMs?: number;
  /** Called with the remaining wait when Redis started a moment ago: leases that it may have forgotten have to expire. */
  readonly quarantined?: (ms: number) => void;
}

/**
 * Locks in one Redis. Safe as long as that server keeps acknowledged writes or, after a restart that lost data, is
 * given the time of the longest lease: meanwhile nothing is granted, and holders may renew. The same applies to a replica that
 * takes over (Sentinel, Cluster). There the old primary may continue to grant for a moment, and only fences reject late writes.
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
  return locksOver(store, { ...options, clientId, maxTtlMs });
}
