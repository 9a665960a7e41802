import { createRequire } from "node:module";
import { Redis } from "ioredis";
import { type Entry, ttlMs } from "./contender.ts";

/** redlock-universal where it can run. It is not installed with the others because they must run on Node 20. */
export function redlockUniversal(pollMs?: number): readonly Entry[] {
  const library = load();
  if (typeof library === "string") return [];
  const { createLock, IoredisAdapter } = library;
  const waits = { retryAttempts: 1_000_000, ...(pollMs !== undefined && { retryDelay: pollMs }) };
  return [
    {
      name: pollMs === undefined ? "redlock-universal" : `redlock-universal, ${pollMs} ms`,
      sends: ["set", "evalsha", "eval", "ping"],
      async open(url) {
        const redis = new Redis(url);
        const adapter = new IoredisAdapter(redis);
        return {
          async acquire(key) {
            const lock = createLock({ adapter, key, ttl: ttlMs, performance: "lean", ...waits });
            const handle = await lock.acquire();
            return { release: () => lock.release(handle) };
          },
          close: async () => redis.disconnect(),
        };
      },
    },
  ];
}

/** Why redlock-universal does not take part; undefined if it does. */
export function redlockUniversalMissing(): string | undefined {
  const library = load();
  return typeof library === "string" ? library : undefined;
}

function load(): Library | string {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < 22) return `it needs Node 22 or later, and this is ${process.version}`;
  try {
    return createRequire(import.meta.url)("redlock-universal") as Library;
  } catch {
    return "it is not installed; `npm install --no-save redlock-universal` adds it for one run";
  }
}

interface Library {
  readonly IoredisAdapter: new (redis: Redis) => object;
  createLock(options: {
    readonly adapter: object;
    readonly key: string;
    readonly ttl: number;
    readonly performance: "lean";
    readonly retryAttempts: number;
    readonly retryDelay?: number;
  }): { acquire(): Promise<object>; release(handle: object): Promise<boolean> };
}
