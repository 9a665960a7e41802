import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { startRedis } from "../../test/services/redis.ts";

export interface RedisServer {
  readonly url: string;
  readonly pid: number;
  readonly version: string;
  /** For looking at the server; never used by what is measured. */
  readonly admin: Redis;
  stop(): Promise<void>;
}

/**
 * A Redis of our own that writes nothing to disk. Because it might have forgotten locks, ours grant nothing before it
 * has been up for as long as a lease may last.
 */
export function startForgetfulRedis(): Promise<RedisServer> {
  return start("none");
}

/** A Redis that writes everything down: too slow to measure speed on, but our locks grant from the start. */
export function startCarefulRedis(): Promise<RedisServer> {
  return start("always");
}

async function start(persistence: "none" | "always"): Promise<RedisServer> {
  const { url, pid, stop } = await startRedis({ persistence });
  const admin = new Redis(url);
  const info = await admin.info("server");
  return {
    url,
    pid,
    admin,
    version: /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown",
    async stop() {
      admin.disconnect();
      await stop();
    },
  };
}

export async function upFor(admin: Redis, ms: number): Promise<void> {
  for (;;) {
    const info = await admin.info("server");
    const leftMs = ms - Number(/uptime_in_seconds:(\d+)/.exec(info)?.[1]) * 1_000;
    if (leftMs <= 0) return;
    await sleep(Math.min(200, leftMs));
  }
}
