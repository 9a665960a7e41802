import { RedisConnection, redisLocks } from "../../src/coordination/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type Entry, ttlMs, waitMs } from "./contender.ts";

/** Ours, in strict arrival order. */
export const interlock = entry("interlock", { ttlMs });

/** Ours, where up to 32 callers of one process pass the lock on among themselves. */
export const interlockCohort = entry("interlock, cohort 32", { ttlMs, cohort: 32 });

/** Ours with the lease that callers get who do not ask for one: 30 s. */
export const interlockDefaults = entry("interlock, 30 s", {});

function entry(name: string, options: { ttlMs?: number; cohort?: number }): Entry {
  const maxTtlMs = options.ttlMs ?? 30_000;
  return {
    name,
    sends: ["evalsha", "eval"],
    async open(url) {
      const random = systemRandom();
      const connection = new RedisConnection({ url, clock: systemClock(), random });
      const locks = redisLocks({
        connection,
        clock: systemClock(),
        random,
        maxTtlMs: maxTtlMs,
        defaults: { ttlMs: maxTtlMs },
        who: `bench/local/${process.pid}`,
      });
      await connection.connect();
      const wishes = { waitMs, ...options };
      return {
        acquire: (key) => locks.acquire(key, wishes),
        close: () => locks.close(),
      };
    },
  };
}
