import { hashOf, keyOf } from "../../src/coordination/key.ts";
import { type RedisServiceOptions, startRedis } from "../services/redis.ts";
import type { Backend } from "./locks-under-test.ts";

/** The server that keeps the locks, and what a driver can do to it. */
export interface Server {
  readonly backend: Backend;
  readonly port: number;
  /** How a client reaches it through a proxy at `port`. */
  urlAt(port: number): string;
  kill(): Promise<void>;
  start(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Takes a lock away behind its holder's back. */
  deleteLock(key: string): Promise<void>;
  /** How long the server would keep the lock without another word from its holder. */
  lockLastsMs(key: string): Promise<number>;
  forgetScripts(): Promise<void>;
  /** Writes everything to disk, as it is now, for the next start. */
  snapshot(): Promise<void>;
  /** What is left of locks and queues, when nobody holds or waits. */
  leftovers(): Promise<string[]>;
  stop(): Promise<void>;
}

export type Persistence = NonNullable<RedisServiceOptions["persistence"]>;

export async function startServer(backend: Backend, persistence: Persistence): Promise<Server> {
  switch (backend) {
    case "redis":
      return startRedisServer(persistence);
  }
}

async function startRedisServer(persistence: Persistence): Promise<Server> {
  const redis = await startRedis({ persistence });
  const nameOf = (key: string) => `interlock:{${hashOf(keyOf(key))}}`;
  return {
    backend: "redis",
    port: redis.port,
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    kill: () => redis.kill(),
    start: () => redis.start(),
    pause: () => redis.pause(),
    resume: () => redis.resume(),
    deleteLock: async (key) => void (await redis.command("DEL", nameOf(key))),
    lockLastsMs: async (key) => Number(await redis.command("PTTL", nameOf(key))),
    forgetScripts: async () => void (await redis.command("SCRIPT", "FLUSH")),
    snapshot: async () => void (await redis.command("SAVE")),
    async leftovers() {
      const all = "return table.concat(redis.call('KEYS', 'interlock:{*'), ' ')";
      return String(await redis.command("EVAL", all, "0"))
        .split(" ")
        .filter(Boolean);
    },
    stop: () => redis.stop(),
  };
}
