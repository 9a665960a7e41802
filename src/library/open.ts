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
import { type LeaderEvents, type LeaderWork, runAsLeader as runOnLocks } from "../coordination/locks/run-as-leader.ts";
import type { Watermark, WatermarkOptions } from "../coordination/watermarks/watermarks.ts";
import { type NamedBackend, prepareBackend, surroundings } from "./connect.ts";
import type { OpenOptions } from "./options.ts";

export interface OpenLocksOptions extends OpenOptions {
  /** For calls that name none: how long a lock outlives a crashed holder, and how long a caller waits. Default 30 s each. */
  readonly defaults?: { readonly ttlMs?: number; readonly waitMs?: number };
}

export interface OpenClaimsOptions extends OpenOptions {
  /** For calls that name none: how long a claim outlives a crashed process, and how long its result is kept. */
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
  const table = { ...surroundings(options), ...(defaults && { defaults }) };
  switch (backend.backend) {
    case "memory":
      return memoryLocks(table);
    case "redis": {
      const maxTtlMs = Math.max(60_000, defaults?.ttlMs ?? 0);
      return connect(backend, redisLocks({ ...table, ...backend, maxTtlMs }));
    }
    case "kubernetes": {
      const locks = kubernetesLocks({ ...table, ...backend, prefix: leasePrefix });
      return closeWith(locks, startJanitor({ ...table, ...backend, locks }));
    }
  }
}

/** Opens claims, at the same addresses. */
export async function openClaims(address: string, { defaults, ...options }: OpenClaimsOptions = {}): Promise<Claims> {
  const backend = await prepareBackend(address, options);
  const around = surroundings(options);
  const client = { ...around, ...(defaults && { defaults }) };
  switch (backend.backend) {
    case "memory":
      return memoryClaims(client);
    case "redis":
      return connect(backend, redisClaims({ ...client, ...backend }));
    case "kubernetes": {
      const locks = kubernetesLocks({ ...around, ...backend, prefix: leasePrefix });
      const janitor = closeWith(locks, startJanitor({ ...around, ...backend, locks }));
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

/** Ends the janitor with `part`. It may just wait for a lock, which ends with the locks. */
function closeWith<Part extends Closable>(part: Part, other: Closable): Part {
  return withClose(part, async (closePart) => {
    await Promise.all([closePart(), other.close()]);
  });
}

function withClose<Part extends Closable>(part: Part, close: (closePart: () => Promise<void>) => Promise<void>): Part {
  const closePart = part.close.bind(part);
  return Object.assign(part, { close: () => close(closePart) });
}

export interface RunAsLeaderOptions extends Pick<OpenOptions, "clock" | "random"> {
  /** Ends the candidacy: the work is aborted and awaited, and leadership is released for the next candidate. */
  readonly signal: AbortSignal;
  /** How long others wait for a leader that vanished. Default: that of the locks. */
  readonly ttlMs?: number;
  /** The work of the leader, for display. */
  readonly purpose?: string;
  readonly events?: LeaderEvents;
}

/** Runs `work` in one process at a time of all that call this with the same key, until `signal` aborts. */
export function runAsLeader(locks: Locks, key: Key, work: LeaderWork, options: RunAsLeaderOptions): Promise<void> {
  return runOnLocks(locks, key, work, { ...options, ...surroundings(options) });
}
