import type { Claims } from "../coordination/claims/claims.ts";
import {
  CoordinationError,
  kubernetesClaims,
  kubernetesLocks,
  kubernetesWatermarks,
  memoryClaims,
  memoryLocks,
  memoryWatermarks,
  openWatermark,
  redisClaims,
  redisLocks,
  redisWatermarks,
  startJanitor,
  type WatermarkStore,
} from "../coordination/index.ts";
import type { Key } from "../coordination/key.ts";
import type { Locks } from "../coordination/locks/locks.ts";
import { type LeaderOptions, type LeaderWork, runAsLeader as runOnLocks } from "../coordination/locks/run-as-leader.ts";
import type { Watermark, WatermarkOptions } from "../coordination/watermarks/watermarks.ts";
import { type NamedBackend, prepareBackend, withDefaults } from "./connect.ts";
import type { OpenOptions } from "./options.ts";

export interface OpenLocksOptions extends OpenOptions {
  /** Defaults for the options of each call: how long a lock outlives a crashed holder, and how long a caller waits. 30 s each. */
  readonly defaults?: { readonly ttlMs?: number; readonly waitMs?: number };
}

export interface OpenClaimsOptions extends OpenOptions {
  /** Defaults for the options of each call: how long a claim outlives a crashed process, and how long its result is kept. */
  readonly defaults?: { readonly leaseMs?: number; readonly doneTtlMs?: number };
}

/** The watermarks of one backend. */
export interface Watermarks {
  /** The watermark of a stream. If there is none yet, it is stored before this returns. */
  open(key: Key, options: WatermarkOptions): Promise<Watermark>;
  close(): Promise<void>;
}

/** First part of the names of Leases. */
const leasePrefix = "lock-";

/**
 * Opens locks at `memory:`, `redis://HOST:6379` or `kubernetes:NAMESPACE`. Rejects with TypeError for another address, and with
 * `unavailable` if Redis cannot be reached.
 */
export async function openLocks(address: string, { defaults, ...options }: OpenLocksOptions = {}): Promise<Locks> {
  const backend = await prepareBackend(address, options);
  const common = { ...withDefaults(options), ...(defaults && { defaults }) };
  switch (backend.backend) {
    case "memory":
      return memoryLocks(common);
    case "redis": {
      const maxTtlMs = Math.max(60_000, defaults?.ttlMs ?? 0);
      return connect(backend, redisLocks({ ...common, ...backend, maxTtlMs }));
    }
    case "kubernetes": {
      const locks = kubernetesLocks({ ...common, ...backend, prefix: leasePrefix });
      return closeWith(locks, startJanitor({ ...common, ...backend, locks }));
    }
  }
}

/** Opens claims, at the same addresses. */
export async function openClaims(address: string, { defaults, ...options }: OpenClaimsOptions = {}): Promise<Claims> {
  const backend = await prepareBackend(address, options);
  const common = withDefaults(options);
  const client = { ...common, ...(defaults && { defaults }) };
  switch (backend.backend) {
    case "memory":
      return memoryClaims(client);
    case "redis":
      return connect(backend, redisClaims({ ...client, ...backend }));
    case "kubernetes": {
      const locks = kubernetesLocks({ ...common, ...backend, prefix: leasePrefix });
      const janitor = closeWith(locks, startJanitor({ ...common, ...backend, locks }));
      return closeWith(kubernetesClaims({ ...client, ...backend }), janitor);
    }
  }
}

/** Opens watermarks, at the same addresses. */
export async function openWatermarks(address: string, options: OpenOptions = {}): Promise<Watermarks> {
  const backend = await prepareBackend(address, options);
  switch (backend.backend) {
    case "memory":
      return toWatermarks(memoryWatermarks());
    case "redis":
      return connect(backend, toWatermarks(redisWatermarks(backend)));
    case "kubernetes":
      return toWatermarks(kubernetesWatermarks(backend));
  }
}

function toWatermarks(store: WatermarkStore): Watermarks {
  return { open: (key, options) => openWatermark(store, key, options), close: async () => {} };
}

type RedisBackend = Extract<NamedBackend, { backend: "redis" }>;

/** Connects to Redis once `part` has registered its steps for each new connection. The connection is closed after `part`. */
async function connect<Part extends Closable>({ connection }: RedisBackend, part: Part): Promise<Part> {
  const opened = withClose(part, async (closePart) => {
    await closePart();
    await connection.close();
  });
  try {
    await connection.connect();
    return opened;
  } catch (cause) {
    await opened.close();
    const { message } = cause as Error;
    const problem = `Redis cannot be used (${message}); start it, or correct its address`;
    throw new CoordinationError("unavailable", problem, { cause });
  }
}

interface Closable {
  close(): Promise<void>;
}

/** Closes both together: the janitor may be waiting for a lock, and that wait ends when the locks are closed. */
function closeWith<Part extends Closable>(part: Part, other: Closable): Part {
  return withClose(part, async (closePart) => {
    await Promise.all([closePart(), other.close()]);
  });
}

function withClose<Part extends Closable>(part: Part, close: (closePart: () => Promise<void>) => Promise<void>): Part {
  const closePart = part.close.bind(part);
  return Object.assign(part, { close: () => close(closePart) });
}

export interface RunAsLeaderOptions
  extends Omit<LeaderOptions, "clock" | "random">,
    Pick<OpenOptions, "clock" | "random"> {}

/** Runs `work` in one process at a time of all that call this with the same key, until `signal` aborts. */
export function runAsLeader(locks: Locks, key: Key, work: LeaderWork, options: RunAsLeaderOptions): Promise<void> {
  return runOnLocks(locks, key, work, { ...options, ...withDefaults(options) });
}
