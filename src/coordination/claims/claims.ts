import type { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { Guarantee, Holder } from "../locks/locks.ts";

/**
 * Deduplication as a claim: checking and claiming are one step, so that exactly one caller gets `new`. There is no way to
 * check a key without claiming it, nor to mark it as done: another process could act between the two.
 *
 *   ∅ ──claim──▶ claimed ──complete──▶ done    ──doneTtlMs──▶ ∅
 *                   ├──fail(permanent)▶ failed  ──doneTtlMs──▶ ∅
 *                   ├──fail(retry)────▶ waiting ──retryAfterMs▶ ∅
 *                   └──lease ran out (the process died)───────▶ ∅
 */
export interface Claims {
  /** The scope and the assumptions of a claim. */
  readonly guarantee: Guarantee;
  /**
   * Claims `key` for this caller, or returns its state. Does not wait for another holder's work. In doubt it rejects, never
   * returns `new`: with `unavailable`, `forbidden`, `mismatch`, `collision`, `full` or `closed`.
   */
  claim(key: Key, options?: ClaimOptions): Promise<Claim>;
  /** Calls of this process with the same `name` share the result of one `run` while it is pending. */
  share<T>(name: string, run: () => Promise<T>): Promise<T>;
  /** Aborts and releases all claims, rejects later calls, and closes the store. Stop the work first. */
  close(): Promise<void>;
}

export interface ClaimOptions {
  /** How long the claim outlives a crashed process. Renewed while the process lives. Default 60 s. */
  readonly leaseMs?: number;
  /** How long `done` and `failed` are remembered. Default 1 h. */
  readonly doneTtlMs?: number;
  /** The max time for which the claim is renewed. Default: no limit. */
  readonly maxHoldMs?: number;
  /** Identifies the content of the key. The same key with another content is rejected. */
  readonly payloadHash?: string;
  /** The reason why a repeated effect is harmless, for metrics. */
  readonly effect?: Effect;
}

/**
 * The reason why a second run of the same work is harmless. A claim alone cannot: its process may die after the effect and
 * before `complete`.
 * - `transactional`: effect and record are one transaction
 * - `fenced`: the resource refuses a smaller fence
 * - `idempotent`: the resource keeps a key of its own: a deterministic name, a marker in a comment, an Idempotency-Key
 * - `at-least-once`: nothing does; after a crash the effect may happen again
 */
export type Effect = "transactional" | "fenced" | "idempotent" | "at-least-once";

export type Claim = NewClaim | TakenClaim;

/** A claim that another caller has, or had. */
export type TakenClaim = ClaimInFlight | ClaimDone | ClaimFailed;

/** A holder works on it, or the last attempt failed and the next may only start later. */
export interface ClaimInFlight {
  readonly state: "in-flight";
  /** Undefined while no holder works on it. */
  readonly holder: Holder | undefined;
  /** The claim is not `new` before that, unless its holder gives it back. */
  readonly retryAfterMs: number;
}

export interface ClaimDone {
  readonly state: "done";
  readonly result: string;
  /** When it was completed, on the store's clock. */
  readonly atMs: number;
}

/** It failed permanently: a retry would fail as well. */
export interface ClaimFailed {
  readonly state: "failed";
  readonly error: string;
  readonly atMs: number;
}

/** The right to do the work of the key. Disposing of it without `complete` or `fail` lets the next caller try. */
export interface NewClaim extends AsyncDisposable {
  readonly state: "new";
  readonly key: Key;
  /** Larger than that of every earlier claim of this key. Send it with every write, so that a late one is refused. */
  readonly fence: bigint;
  readonly holder: string;
  /** Aborts when the claim ends by itself: before another caller can have it, even if the store does not respond. */
  readonly signal: AbortSignal;
  /** How long the claim lasts without another renewal. Zero or less: it has ended. */
  remainingMs(): number;
  /** Throws `lost` unless the claim is held for at least `minMs` more. Call it right before every side effect. */
  assertHeld(minMs?: number): void;
  /** Records the work as done. The first of `complete` and `fail` decides; repeating either changes nothing. */
  complete(result?: string): Promise<CompleteOutcome>;
  /** Releases the claim. The work can be retried after a delay or, if `permanent`, not at all. */
  fail(how: Failure): Promise<FailOutcome>;
}

export type Failure = { readonly retryAfterMs: number } | { readonly permanent: string };

/**
 * `lost`: the claim was no longer ours, so the work may have been done twice. `unknown`: the store did not respond
 * while the claim lasted; the work is recorded as done, or will be repeated.
 */
export type CompleteOutcome =
  | { readonly completed: true }
  | { readonly completed: false; readonly reason: "lost" | "unknown" };

export type FailOutcome = { readonly failed: true } | { readonly failed: false; readonly reason: "lost" | "unknown" };

/** The events of claims, for metrics and logs. Keys are for logs, never for labels. */
export interface ClaimEvents {
  answered?(key: Key, state: Claim["state"], effect: Effect | undefined): void;
  refused?(key: Key, reason: CoordinationError["code"]): void;
  renewalFailed?(claim: NewClaim, cause: unknown): void;
  lost?(claim: NewClaim, cause: CoordinationError): void;
  /** `done` and `lost`: the work was finished after its claim was lost, so its effect may have happened twice. */
  settled?(claim: NewClaim, how: "done" | "failed" | "retry", outcome: "settled" | "lost" | "unknown"): void;
  /** The memory store was full and evicted finished claims early (`claims evicted`): their work may be repeated. */
  evicted?(eviction: Eviction): void;
}

export interface Eviction {
  readonly count: number;
  readonly maxEntries: number;
  /** How long ago the forgotten work was done. */
  readonly ageMs: number;
}
