import { Redis } from "ioredis";
import { Mutex } from "redis-semaphore";
import Redlock4 from "redlock-4";
import Redlock5 from "redlock-5";
import { type Entry, ttlMs, waitMs } from "./contender.ts";
import { redlockUniversal } from "./redlock-universal.ts";

/** Peers as they come; the only setting changed is that they do not give up waiting. */
export const peers: readonly Entry[] = [redlock4(), redlock5(), redisSemaphore(), ...redlockUniversal()];

/** The same peers, asking every 5 ms whether it is their turn. */
export const pollers: readonly Entry[] = [redlock4(5), redlock5(5), redisSemaphore(5), ...redlockUniversal(5)];

function redlock4(pollMs?: number): Entry {
  return {
    name: named("redlock 4", pollMs),
    sends: ["evalsha", "eval"],
    async open(url) {
      const redis = new Redis(url);
      const redlock = new Redlock4([redis], redlockOptions(pollMs));
      return {
        async acquire(key) {
          const lock = await redlock.acquire(key, ttlMs);
          return { release: () => lock.unlock() };
        },
        close: async () => redis.disconnect(),
      };
    },
  };
}

function redlock5(pollMs?: number): Entry {
  return {
    name: named("redlock 5 beta", pollMs),
    sends: ["evalsha", "eval"],
    async open(url) {
      const redis = new Redis(url);
      const redlock = new Redlock5([redis], redlockOptions(pollMs));
      return {
        acquire: (key) => redlock.acquire([key], ttlMs),
        close: async () => redis.disconnect(),
      };
    },
  };
}

function redlockOptions(pollMs: number | undefined) {
  return { retryCount: -1, ...(pollMs !== undefined && { retryDelay: pollMs, retryJitter: 0 }) };
}

function redisSemaphore(pollMs?: number): Entry {
  const options = {
    lockTimeout: ttlMs,
    acquireTimeout: waitMs,
    ...(pollMs !== undefined && { retryInterval: pollMs }),
  };
  return {
    name: named("redis-semaphore", pollMs),
    sends: ["set", "evalsha", "eval"],
    async open(url) {
      const redis = new Redis(url);
      return {
        async acquire(key) {
          const mutex = new Mutex(redis, key, options);
          await mutex.acquire();
          return mutex;
        },
        close: async () => redis.disconnect(),
      };
    },
  };
}

function named(peer: string, pollMs: number | undefined): string {
  return pollMs === undefined ? peer : `${peer}, ${pollMs} ms`;
}
