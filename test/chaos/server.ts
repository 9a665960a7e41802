import { keyHash, keyName, keyOf } from "../../src/coordination/key.ts";
import { holderOf, waitersOf } from "../../src/coordination/kubernetes/lease-rules.ts";
import { fromKubeconfig, httpClient, leases } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { startApiServer } from "../services/api-server.ts";
import { type RedisService, type RedisServiceOptions, startRedis } from "../services/redis.ts";
import { startSentinels } from "../services/redis-sentinel.ts";
import { type Backend, leasePlace } from "./locks-under-test.ts";
import type { Programs } from "./theatre.ts";

/** The server that keeps the locks, and what a driver can do to it. */
export interface Server {
  readonly backend: Backend;
  readonly port: number;
  /** How long it keeps a lock for a waiter it was handed to, and that does not answer. */
  readonly confirmMs: number;
  /** After a restart that may have forgotten leases it grants none until the longest has run out. */
  readonly hasQuarantine: boolean;
  /** How a client reaches it through a proxy at `port`. */
  urlAt(port: number): string;
  kill(): Promise<void>;
  start(): Promise<void>;
  pause(): void | Promise<void>;
  resume(): void | Promise<void>;
  /** Takes a lock away behind its holder's back. */
  deleteLock(key: string): Promise<void>;
  /** The remaining locks and queues when no worker holds or waits. */
  leftovers(): Promise<string[]>;
  /** What only a Redis can be made to do. */
  readonly redis?: RedisTricks;
  stop(): Promise<void>;
}

export interface RedisTricks {
  /** How long the server would keep the lock without another word from its holder. */
  lockLastsMs(key: string): Promise<number>;
  forgetScripts(): Promise<void>;
  /** Writes everything to disk, as it is now, for the next start. */
  snapshot(): Promise<void>;
}

/** What a restart leaves: nothing, all but the last second, everything. An API server knows only the extremes. */
export type Persistence = NonNullable<RedisServiceOptions["persistence"]>;

export async function startServer(backend: Backend, persistence: Persistence, programs: Programs): Promise<Server> {
  switch (backend) {
    case "redis":
      return startRedisServer(persistence);
    case "sentinel":
      return startSentinelServers();
    case "kubernetes":
      return startKubernetesServer(persistence, programs.interlock);
  }
}

async function startRedisServer(persistence: Persistence): Promise<Server> {
  const redis = await startRedis({ persistence });
  return {
    ...redisLocksOn(async () => redis),
    backend: "redis",
    port: redis.port,
    urlAt: (port) => `redis://127.0.0.1:${port}`,
    kill: () => redis.kill(),
    start: () => redis.start(),
    pause: () => redis.pause(),
    resume: () => redis.resume(),
    stop: () => redis.stop(),
  };
}

/** Every fault hits the current primary. Clients connect to it directly, so there is no proxy in between. */
async function startSentinelServers(): Promise<Server> {
  // As docs/redis.md advises.
  const sentinels = await startSentinels(["--min-replicas-to-write", "1", "--min-replicas-max-lag", "2"]);
  let struck = await sentinels.primary();
  return {
    ...redisLocksOn(() => sentinels.primary()),
    backend: "sentinel",
    port: struck.port,
    urlAt: () => sentinels.url,
    async kill() {
      struck = await sentinels.primary();
      await struck.kill();
    },
    // A primary without a replica takes no writes, so the next one must not fall before the last is back.
    async start() {
      await sentinels.untilNot(struck);
      await struck.start();
      await sentinels.rejoin(struck);
    },
    async pause() {
      struck = await sentinels.primary();
      struck.pause();
    },
    async resume() {
      struck.resume();
      await sentinels.rejoin(struck);
    },
    stop: async () => await sentinels[Symbol.asyncDispose](),
  };
}

function redisLocksOn(serverNow: () => Promise<RedisService>) {
  const name = (key: string) => `interlock:{${keyHash(keyOf(key))}}`;
  const command = async (...words: readonly string[]) => await (await serverNow()).command(...words);
  return {
    confirmMs: 2_000,
    hasQuarantine: true,
    deleteLock: async (key: string) => void (await command("DEL", name(key))),
    async leftovers() {
      const all = "return table.concat(redis.call('KEYS', 'interlock:{*'), ' ')";
      return String(await command("EVAL", all, "0"))
        .split(" ")
        .filter(Boolean);
    },
    redis: {
      lockLastsMs: async (key: string) => Number(await command("PTTL", name(key))),
      forgetScripts: async () => void (await command("SCRIPT", "FLUSH")),
      snapshot: async () => void (await command("SAVE")),
    },
  };
}

async function startKubernetesServer(persistence: Persistence, program: string): Promise<Server> {
  const api = await startApiServer({ program });
  const connection = await fromKubeconfig({ path: api.kubeconfigFile, env: process.env });
  const admin = httpClient({ connection, clock: systemClock(), random: systemRandom() });
  const { namespace, prefix } = leasePlace;
  return {
    backend: "kubernetes",
    port: api.port,
    confirmMs: 5_000,
    hasQuarantine: false,
    urlAt: (port) => api.kubeconfigAt(port),
    kill: () => api.kill(),
    async start() {
      if (persistence === "none") await api.forget();
      await api.start();
    },
    pause: () => api.pause(),
    resume: () => api.resume(),
    deleteLock: async (key) => void (await admin.delete(leases, { namespace, name: prefix + keyName(keyOf(key)) })),
    async leftovers() {
      const { items } = await admin.list(leases, { namespace });
      // A free Lease stays until the janitor comes: that costs one write less for the next who takes it.
      const taken = items.filter((lease) => holderOf(lease) !== "" || waitersOf(lease).length > 0);
      return taken.map((lease) => `${lease.metadata.name} ${holderOf(lease)} ${waitersOf(lease)}`);
    },
    stop: () => api.stop(),
  };
}
