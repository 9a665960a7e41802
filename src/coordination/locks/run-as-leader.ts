import { type Backoff, backoffMs, type Clock, type Random, sleep } from "../../time/index.ts";
import { isCoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { Lease, Locks } from "./locks.ts";

export interface LeaderOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Ends the candidacy: the work is aborted and awaited, and leadership is released for the next candidate. */
  readonly signal: AbortSignal;
  /** How long other candidates wait for a crashed leader. Default: that of the locks. */
  readonly ttlMs?: number;
  /** The purpose, for display. */
  readonly purpose?: string;
  readonly events?: LeaderEvents;
}

export interface LeaderEvents {
  elected?(lease: Lease): void;
  /** `lost`: the lease was lost, instead of being released. */
  resigned?(lease: Lease, lost: boolean): void;
  /** The work or the election failed. It is retried after a pause. */
  failed?(error: unknown): void;
}

/** The work of a leader. `signal` aborts when leadership is lost or the process stops. */
export type LeaderWork = (lease: Lease, signal: AbortSignal) => Promise<void>;

const waitMs = 3_600_000;
const betweenFailures: Backoff = { baseMs: 1_000, maxMs: 30_000, jitter: 0.5 };

/**
 * Runs `work` in one process at a time of all that call this with the same key: in the one that holds the lock. Work
 * that ends by itself, or fails, releases leadership, and this process is a candidate again after a pause. Resolves after
 * `signal` has aborted and leadership is released.
 *
 * A leader that was paused detects that it was replaced only when it runs again: every write carries
 * `lease.fence`, or follows `lease.assertHeld()`. This process leads again only after its previous work has ended; work that
 * ignores its signal does not block other processes.
 */
export async function runAsLeader(locks: Locks, key: Key, work: LeaderWork, options: LeaderOptions): Promise<void> {
  const { clock, random, signal, events = {} } = options;
  for (let failures = 0; !signal.aborted; ) {
    try {
      await lead(locks, key, work, options);
      failures = 0;
    } catch (error) {
      if (signal.aborted || isCoordinationError(error, "closed")) return;
      // Another candidate has led during the whole wait: queue again, which costs nothing.
      if (isCoordinationError(error, "timeout")) continue;
      failures++;
      events.failed?.(error);
    }
    const pauseMs = backoffMs(Math.max(1, failures), betweenFailures, random.fraction());
    await sleep(clock, pauseMs, signal).catch(() => {});
  }
}

/** One term, from the candidacy to the end. */
async function lead(locks: Locks, key: Key, work: LeaderWork, options: LeaderOptions): Promise<void> {
  const { signal, ttlMs, purpose = "leading", events = {} } = options;
  const candidacy = { waitMs, signal, purpose, isStandby: true, ...(ttlMs !== undefined && { ttlMs }) };
  await using lease = await locks.acquire(key, candidacy);
  events.elected?.(lease);
  try {
    await work(lease, AbortSignal.any([signal, lease.signal]));
  } catch (error) {
    // Aborted work may reject.
    if (!signal.aborted && !lease.signal.aborted) throw error;
  } finally {
    events.resigned?.(lease, lease.signal.aborted);
  }
}
