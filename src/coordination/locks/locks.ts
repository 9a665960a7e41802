import type { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";

/**
 * The assumptions of exclusion, besides clocks that run at nearly the same speed:
 * - `process`: excludes only callers of this process; a restart forgets everything
 * - `single`: one server that keeps acknowledged writes
 * - `async-replicated`: a failover may forget a lock, so every write needs its fence checked
 * - `consensus`: a majority of servers agrees before each response
 */
export type Guarantee = "process" | "single" | "async-replicated" | "consensus";

/** Mutual exclusion per key. Waiters are served in the order of arrival. */
export interface Locks {
  readonly guarantee: Guarantee;
  /** The lease, or undefined if another caller holds the key or waits for it. Never waits. */
  tryAcquire(key: Key, options?: TryOptions): Promise<Lease | undefined>;
  /** Waits for the lock, at most `waitMs`. Rejects with `timeout`, `aborted`, `unavailable` or `forbidden`. */
  acquire(key: Key, options?: AcquireOptions): Promise<Lease>;
  /** Runs `work` while holding `key`. Rejects with `lost` if the lease ended first, whatever `work` returned. */
  run<T>(key: Key, work: (lease: Lease) => Promise<T>, options?: AcquireOptions): Promise<T>;
  /** How many leases this process holds and how many callers wait, now. */
  load(): LockLoad;
  /** Releases all leases, rejects all waiters, and closes the backend. */
  close(): Promise<void>;
}

export interface TryOptions {
  /** How long the lease outlives a crashed holder. Renewed while the process lives. Default 30 s. */
  readonly ttlMs?: number;
  /** The max time for which the lease is renewed. Default: no limit. */
  readonly maxHoldMs?: number;
  /** The purpose, for display. */
  readonly purpose?: string;
}

export interface AcquireOptions extends TryOptions {
  /** The max wait. Default 30 s. With 0 the call never queues, and rejects with `timeout` at once. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
  /**
   * How many callers of this process may have the lock in turn before another process gets it. Default 1: after each
   * release the process that has waited longest gets it.
   */
  readonly cohort?: number;
  /** A standby, such as a candidate for leadership: a long wait is no sign of a problem, and `load` does not count it. */
  readonly isStandby?: boolean;
}

/** The right to act on a key until it is released or ends. */
export interface Lease extends AsyncDisposable {
  readonly key: Key;
  /** Larger than that of every earlier lease of this key. Send it with every write, so that a late one is refused. */
  readonly fence: bigint;
  readonly holder: string;
  /** Aborts when the lease ends other than by `release`: before another caller can hold the key, even if the backend does not respond. */
  readonly signal: AbortSignal;
  /** How long the lease lasts without another renewal. Zero or less: it has ended. */
  remainingMs(): number;
  /** Throws `lost` unless the lease is held for at least `minMs` more. Call it right before every side effect. */
  assertHeld(minMs?: number): void;
  /** Releases the key. Returns whether it was still held; never rejects for that. Idempotent. */
  release(): Promise<ReleaseOutcome>;
}

/** `lost`: it was no longer ours. `unknown`: the backend did not respond in time; the lock expires within the ttl. */
export type ReleaseOutcome =
  | { readonly released: true }
  | { readonly released: false; readonly reason: "lost" | "unknown" };

/** The current holder, as far as the backend reports it. */
export interface Holder {
  readonly id: string;
  /** stage/pod/pid of the process. */
  readonly who: string;
  readonly sinceMs: number | undefined;
  readonly purpose: string | undefined;
}

/** Standbys do not count as waiting. */
export interface LockLoad {
  readonly held: number;
  readonly waiting: number;
  readonly oldestWaitMs: number;
}

/** The events of locks, for metrics and logs. Keys are for logs, never for labels. */
export interface LockEvents {
  attempted?(key: Key): void;
  acquired?(lease: Lease, waitedMs: number): void;
  /** A caller has to wait, or `tryAcquire` returned undefined. */
  contended?(key: Key, holder: Holder | undefined): void;
  failed?(key: Key, reason: "contention" | CoordinationError["code"], waitedMs: number): void;
  renewalFailed?(lease: Lease, cause: unknown): void;
  lost?(lease: Lease, cause: CoordinationError): void;
  released?(lease: Lease, outcome: ReleaseOutcome, heldMs: number): void;
}
