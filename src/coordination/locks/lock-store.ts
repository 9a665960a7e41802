import type { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { RenewalResult, Validity } from "../lease-renewer.ts";
import type { Guarantee, Holder, ReleaseOutcome } from "./locks.ts";

/**
 * Port: the operations that a backend must perform atomically. Queueing inside the process, waiting, renewal, deadlines and outcomes are
 * written once, on top of it, in `lock-table.ts`.
 *
 * All times are on the local monotonic clock. A deadline is computed from when the request was *sent*, so that it is
 * never later than the moment the backend may grant the lock to another holder.
 */
export interface LockStore {
  readonly guarantee: Guarantee;
  /** Grants at once without a request. Only a store inside this process can. */
  grantNow?(bid: Bid): Terms;
  /** Requests a lock. The response is a call of the bid: once, or `queued` first and another one later. */
  ask(bid: Bid): void;
  /** Withdraws a bid that was not granted yet. A grant that arrives nevertheless is released, not announced. */
  withdraw(bid: Bid): void;
  /** Never rejects, never takes longer than its backend's timeout. */
  renew(grant: Grant): Promise<RenewalResult>;
  /** Frees the lock if it is still ours, and retries an unclear response until the grant's deadline. Never rejects. */
  release(grant: Grant): Promise<ReleaseOutcome>;
  close(): Promise<void>;
}

/** The request of one process for one key. At most one is open per key and process. */
export interface Bid {
  readonly key: Key;
  /** Names this acquisition, never the process: two callers in one process are two holders. */
  readonly holder: string;
  readonly ttlMs: number;
  /** False: respond `busy` instead of queueing. */
  readonly wait: boolean;
  /** How many fences to reserve, one for each time the lock may be passed on inside the process. */
  readonly cohort: number;
  readonly purpose: string | undefined;
  granted(terms: Terms): void;
  /** With `delay`: no holder is in the way, but the backend grants nothing yet. */
  queued(behind: Holder | undefined, delay?: Delay): void;
  busy(holder: Holder | undefined): void;
  failed(error: CoordinationError): void;
}

/** A time in which the backend grants nothing to any caller. */
export interface Delay {
  readonly untilMs: number;
  /** A sentence without its end, such as `Redis started 3 s ago`. */
  readonly cause: string;
}

/** The terms of a grant. */
export interface Terms extends Validity {
  readonly fence: bigint;
  /** `fence` … `fence + fences − 1` are reserved for this grant. */
  readonly fences: number;
  /** The grant is short because the backend waits for a confirmation: renew soon. */
  readonly unconfirmed?: boolean;
}

/** A bid that was granted. */
export interface Grant {
  readonly bid: Bid;
  readonly fence: bigint;
  readonly deadline: number;
}

/** For errors and logs: `Redis started 3 s ago and …; grants begin in 57 s`. */
export function explainDelay({ untilMs, cause }: Delay, now: number): string {
  return `${cause}; grants begin in ${Math.ceil(Math.max(0, untilMs - now) / 1_000)} s`;
}
