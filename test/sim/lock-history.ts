import type { Lease, ReleaseOutcome } from "../../src/coordination/locks/locks.ts";
import type { Process } from "./world.ts";

/** The store's own state, for comparison with the clients'. */
export interface Truth {
  /** The holder of the key by the store's record; undefined if there is none. */
  holderOf(key: string): string | undefined;
  /** How the lock of this holder ended, if it did and the store has a record. */
  endingOf(holder: string): "released" | "expired" | "deleted" | undefined;
  /** The store lost acknowledged writes, or was tampered with: it is no reference any more. */
  readonly untrusted: boolean;
}

interface Holding {
  readonly process: Process;
  readonly lease: Lease;
  /** Reading it arms the lazy signal, as a caller that listens would. */
  readonly signal: AbortSignal;
  /** The lock was deleted from outside. Its holder may keep it until then, and must not renew it. */
  excusedUntil?: number;
}

/** A lock that was deleted from outside. */
export interface Deleted {
  readonly holder: string;
  /** No lease that was granted before has a larger one. */
  readonly fence: bigint;
}

/** The longest ttl that callers ask for. */
export const maxTtlMs = 3_000;

/** The results that clients got, checked against one another and against the store after every step. */
export class LockHistory {
  readonly #truth: Truth;
  readonly #holdings = new Map<string, Holding[]>();
  readonly #lastFence = new Map<string, bigint>();
  readonly #acceptedFence = new Map<string, bigint>();
  /** The last fence of each holder: a turn passed on inside a process keeps its holder. */
  readonly #fenceOfHolder = new Map<string, bigint>();
  /** Holders whose lock was deleted under them, and until when they may not know. */
  readonly #excuses = new Map<string, { readonly fence: bigint; readonly until: number }>();
  #releases: { lease: Lease; outcome: ReleaseOutcome }[] = [];
  grants = 0;
  lost = 0;
  refusedEffects = 0;

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  granted(process: Process, lease: Lease, now: number): void {
    this.grants++;
    const before = this.#lastFence.get(lease.key) ?? 0n;
    if (lease.fence > before) this.#lastFence.set(lease.key, lease.fence);
    else if (this.#excusedUntil(lease) === undefined) {
      throw new Violation("M2 fence", `${lease.key}: fence ${lease.fence} granted after ${before}`);
    }
    this.#fenceOfHolder.set(lease.holder, lease.fence);
    const holdings = this.#holdings.get(lease.key) ?? [];
    const holding = { process, lease, signal: lease.signal };
    this.#excuse(holding);
    holdings.push(holding);
    this.#holdings.set(lease.key, holdings);
    this.#checkHoldings(now);
  }

  /** The lock was deleted from outside. Its holder notices at its next renewal, at the latest at its deadline. */
  deleted({ holder, fence }: Deleted, now: number): void {
    this.#excuses.set(holder, { fence, until: now + maxTtlMs * 1.005 });
    for (const holdings of this.#holdings.values()) for (const holding of holdings) this.#excuse(holding);
  }

  #excuse(holding: Holding) {
    const until = this.#excusedUntil(holding.lease);
    if (until !== undefined) holding.excusedUntil ??= until;
  }

  /** A bid whose lock was deleted before its grant arrived may be granted anew, under the same name and a larger fence. */
  #excusedUntil({ holder, fence }: Lease): number | undefined {
    const excuse = this.#excuses.get(holder);
    return excuse && fence <= excuse.fence ? excuse.until : undefined;
  }

  /** A write that reaches the resource now, sent under `fence`. The resource rejects fences older than the newest it has. */
  effect(key: string, fence: bigint): void {
    const largest = this.#acceptedFence.get(key) ?? 0n;
    if (fence < largest) this.refusedEffects++;
    else this.#acceptedFence.set(key, fence);
  }

  released(lease: Lease, outcome: ReleaseOutcome): void {
    this.#releases.push({ lease, outcome });
  }

  /** M7, once everything that happened in the same step is known. */
  #checkRelease({ lease, outcome }: { lease: Lease; outcome: ReleaseOutcome }) {
    const passedOn = this.#fenceOfHolder.get(lease.holder) !== lease.fence;
    if (this.#truth.untrusted || passedOn) return;
    const ending = this.#truth.endingOf(lease.holder);
    if (ending === "deleted") return;
    if (outcome.released && ending !== "released") {
      throw new Violation("M7 outcome", `${lease.key}: returned "released", but it ${ending ?? "is still held"}`);
    }
    if (!outcome.released && outcome.reason === "lost" && ending === "released") {
      throw new Violation("M7 outcome", `${lease.key}: returned "lost", but the release succeeded`);
    }
  }

  /** Promises 1 and 3, after every step: no two processes hold a key by their own clocks. */
  check(now: number): void {
    const releases = this.#releases;
    this.#releases = [];
    for (const each of releases) this.#checkRelease(each);
    this.#checkHoldings(now);
  }

  #checkHoldings(now: number) {
    for (const [key, holdings] of this.#holdings) {
      const believing = holdings.filter((holding) => !holding.process.dead && isTrusted(holding.lease));
      if (believing.length < holdings.length) this.#forgetEnded(key, holdings, believing);
      const live = believing.filter(({ excusedUntil }) => excusedUntil === undefined);
      const stubborn = believing.find(({ excusedUntil = now }) => excusedUntil < now);
      // A server that lost its data lets holders renew their locks, and grants nothing meanwhile.
      if (stubborn && !this.#truth.untrusted) {
        throw new Violation("M3 notice", `${key}: ${stubborn.process.name} has renewed a lock that was deleted`);
      }
      if (live.length > 1) {
        const who = live.map(({ process, lease }) => `${process.name} (fence ${lease.fence})`).join(" and ");
        throw new Violation("M1 exclusion", `${key}: ${who}hold it by their own clocks`);
      }
      const [only] = live;
      if (only && !this.#truth.untrusted && this.#truth.holderOf(key) !== only.lease.holder) {
        const holder = this.#truth.holderOf(key) ?? "no holder";
        throw new Violation(
          "M3 notice",
          `${key}: ${only.process.name}holds it by its own clock, the store has ${holder}`,
        );
      }
    }
  }

  #forgetEnded(key: string, holdings: readonly Holding[], live: Holding[]) {
    for (const { process, lease, signal } of holdings) {
      const running = !process.dead && !process.paused;
      // Ended by time rather than by release: listeners must have been notified. A moment late is covered by the
      // margin before the deadline; the process gets its next timer tick first.
      if (running && !isTrusted(lease) && signal.aborted) this.lost++;
    }
    this.#holdings.set(key, live);
  }
}

function isTrusted(lease: Lease): boolean {
  return lease.remainingMs() > 0;
}

/** A promise was broken. */
export class Violation extends Error {
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`);
    this.invariant = invariant;
  }
}
