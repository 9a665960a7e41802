import { hostname } from "node:os";
import { type Config, explainState } from "../config/index.ts";
import {
  type Claims,
  kubernetesClaims,
  kubernetesLocks,
  kubernetesWatermarks,
  type Locks,
  memoryClaims,
  memoryLocks,
  memoryWatermarks,
  observeClaims,
  observeJanitor,
  observeLockLoad,
  observeLocks,
  type RedisConnection,
  redisClaims,
  redisLocks,
  redisWatermarks,
  type Stage,
  startJanitor,
  type WatermarkStore,
} from "../coordination/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { openRedis } from "./redis.ts";
import type { ProcessTools } from "./stage.ts";

/** Locks, claims and watermarks of a stage, on the configured backends. */
export interface Coordination {
  readonly locks: Locks;
  readonly claims: Claims;
  readonly watermarks: WatermarkStore;
  close(): Promise<void>;
}

export interface CoordinationOptions extends ProcessTools {
  readonly loaded: Parameters<typeof explainState>[0];
  readonly stage: Stage;
  /** The API server, for the backend `kubernetes`. */
  readonly client?: KubeClient;
}

type Backend = Config["state"]["backend"];

/** Prefixes of Lease names, which show the stage that holds the lock. */
const leasePrefix: Readonly<Record<Stage, string>> = {
  gateway: "gw-lock-",
  ro: "ro-lock-",
  executor: "we-lock-",
  notify: "notify-lock-",
  agent: "agent-lock-",
};

/** Opens locks, claims and watermarks as configured, and logs what a restart loses. */
export async function openCoordination(options: CoordinationOptions): Promise<Coordination> {
  const { loaded, log } = options;
  const { config } = loaded;
  for (const { backend, text } of explainState(loaded)) {
    log.info("state backend", { backend, explanation: text, change: "migrates nothing: a new backend begins empty" });
  }

  const redis = uses("redis", config) ? await openRedis(options) : undefined;
  const locks = openLocks(options, redis);
  observeLockLoad(locks, options);
  const claims = openClaims(options, redis);
  const watermarks = openWatermarks(options, redis);
  const janitor = uses("kubernetes", config) ? openJanitor(options, locks) : undefined;
  async function close() {
    // The janitor may be waiting for a lock, which ends when the locks are closed.
    const janitorClosed = janitor?.close();
    await claims.close();
    await locks.close();
    await janitorClosed;
    await redis?.close();
  }
  try {
    // Connected last, because locks prepare every new connection.
    await redis?.connect();
  } catch (error) {
    await close();
    const { message } = error as Error;
    throw new Error(`Redis cannot be used (${message}): bring it back, or set another one with REDIS_URL`, {
      cause: error,
    });
  }
  return { locks, claims, watermarks, close };
}

function uses(backend: Backend, { state, locks }: Config): boolean {
  return state.backend === backend || locks.backend === backend;
}

function openLocks(options: CoordinationOptions, redis: RedisConnection | undefined): Locks {
  const { loaded, stage, log, clock, random } = options;
  const { locks } = loaded.config;
  const common = {
    clock,
    random,
    who: holderName(stage),
    events: observeLocks(options),
    defaults: { ttlMs: locks.ttlMs, waitMs: locks.waitMs },
  };
  switch (locks.backend) {
    case "memory":
      return memoryLocks(common);
    case "redis":
      return redisLocks({
        ...common,
        connection: required(redis, "redis"),
        maxTtlMs: Math.max(60_000, locks.ttlMs),
        quarantined: (ms) => log.warn("redis restarted, locks are granted again later", { ms }),
      });
    case "kubernetes":
      return kubernetesLocks({
        ...common,
        client: required(options.client, "kubernetes"),
        namespace: locks.namespace,
        prefix: leasePrefix[stage],
      });
  }
}

function openClaims(options: CoordinationOptions, redis: RedisConnection | undefined): Claims {
  const { loaded, stage, clock, random } = options;
  const { state, claims, locks } = loaded.config;
  const common = {
    clock,
    random,
    who: holderName(stage),
    events: observeClaims(options),
    defaults: { leaseMs: claims.leaseMs, doneTtlMs: claims.doneTtlMs },
  };
  switch (state.backend) {
    case "memory":
      return memoryClaims({ ...common, maxEntries: claims.memoryEntries });
    case "redis":
      return redisClaims({ ...common, connection: required(redis, "redis") });
    case "kubernetes":
      return kubernetesClaims({
        ...common,
        client: required(options.client, "kubernetes"),
        namespace: locks.namespace,
      });
  }
}

function openWatermarks({ loaded, client }: CoordinationOptions, redis: RedisConnection | undefined): WatermarkStore {
  const { state, locks, watermarks } = loaded.config;
  switch (state.backend) {
    case "memory":
      return memoryWatermarks();
    case "redis":
      return redisWatermarks({ connection: required(redis, "redis") });
    case "kubernetes":
      return kubernetesWatermarks({
        client: required(client, "kubernetes"),
        namespace: watermarks.namespace,
        // Earlier versions stored them there.
        formerNamespace: locks.namespace,
      });
  }
}

function openJanitor(options: CoordinationOptions, locks: Locks) {
  const { loaded, clock, random } = options;
  const { namespace } = loaded.config.locks;
  const client = required(options.client, "kubernetes");
  return startJanitor({ client, clock, random, namespace, locks, events: observeJanitor(options) });
}

function holderName(stage: Stage): string {
  return `${stage}/${hostname()}/${process.pid}`;
}

function required<T>(part: T | undefined, backend: Backend): T {
  if (part === undefined) throw new TypeError(`the ${backend} backend is configured, but not connected`);
  return part;
}
