import { Agenda, Appointment, type Clock } from "../../time/index.ts";
import { type ClaimClientOptions, claimsOver } from "../claims/claim-client.ts";
import type { ClaimBid, ClaimGrant, ClaimResult, ClaimStore, Ending, Taken } from "../claims/claim-store.ts";
import type { ClaimEvents, Claims } from "../claims/claims.ts";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { RenewalResult } from "../lease-renewer.ts";
import type { Guarantee } from "../locks/locks.ts";

export interface MemoryClaimsOptions extends ClaimClientOptions {
  /** Default 10,000. */
  readonly maxEntries?: number;
}

/**
 * Claims among the callers of one process. A restart forgets them, and other processes do not see them. At most
 * `maxEntries` are kept; `MemoryClaimStore` describes the eviction.
 */
export function memoryClaims(options: MemoryClaimsOptions): Claims {
  return claimsOver(new MemoryClaimStore(options), options);
}

export interface MemoryClaimStoreOptions {
  readonly clock: Clock;
  readonly events?: ClaimEvents;
  /** Default 10,000. */
  readonly maxEntries?: number;
}

/** Expired entries are removed this much late. Whether an entry has expired is computed exactly on each read. */
const tidyingResolutionMs = 100;

/**
 * A bounded set of claims in which every operation has constant cost, however full it is. Expired entries are evicted
 * first, then the least recently read finished ones; never a claim in flight.
 */
export class MemoryClaimStore implements ClaimStore {
  readonly guarantee: Guarantee = "process";
  readonly #clock: Clock;
  readonly #events: ClaimEvents;
  readonly #maxEntries: number;
  readonly #agenda: Agenda;
  readonly #entries = new Map<Key, ClaimEntry>();
  /** Entries that may be forgotten, the longest untouched first. */
  readonly #settled = new EntryList();
  #fence: bigint;

  constructor({ clock, events = {}, maxEntries = 10_000 }: MemoryClaimStoreOptions) {
    if (!(Number.isInteger(maxEntries) && maxEntries >= 1)) {
      throw new TypeError(`maxEntries must be a whole number, 1 or more; got ${maxEntries}`);
    }
    this.#clock = clock;
    this.#events = events;
    this.#maxEntries = maxEntries;
    this.#agenda = new Agenda(clock, tidyingResolutionMs, { background: true });
    // Seeded from the wall clock so that a restarted process does not begin below fences it has given out before.
    this.#fence = BigInt(Math.round(clock.wallMs())) * 1_000n;
  }

  get size(): number {
    return this.#entries.size;
  }

  async claim(bid: ClaimBid): Promise<ClaimResult> {
    const found = this.#find(bid.key);
    if (found?.state === "claimed" && found.bid.holder === bid.holder) {
      found.bid = bid;
      this.#expire(found, bid.leaseMs);
      return { state: "new", grant: this.#grant(found) };
    }
    if (found) return this.#describe(found);

    if (this.#entries.size >= this.#maxEntries) this.#makeRoom();
    this.#fence += 1n;
    const entry = new ClaimEntry(bid, this.#fence, (expired) => this.#remove(expired));
    entry.atMs = this.#clock.wallMs();
    this.#entries.set(bid.key, entry);
    this.#expire(entry, bid.leaseMs);
    return { state: "new", grant: this.#grant(entry) };
  }

  /** Cancels the timer. Claims stay readable for other users of the same store. */
  async close(): Promise<void> {
    for (const entry of this.#entries.values()) this.#agenda.remove(entry.expiry);
  }

  #find(key: Key): ClaimEntry | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.expiresAt > this.#clock.now()) return entry;
    this.#remove(entry);
    return undefined;
  }

  #describe(entry: ClaimEntry): Taken {
    const { payloadHash, holder: id, who } = entry.bid;
    switch (entry.state) {
      case "claimed": {
        const holder = { id, who, sinceMs: entry.atMs, purpose: undefined };
        return { state: "in-flight", holder, retryAfterMs: entry.expiresAt - this.#clock.now(), payloadHash };
      }
      case "retry":
        return {
          state: "in-flight",
          holder: undefined,
          retryAfterMs: entry.expiresAt - this.#clock.now(),
          payloadHash,
        };
      case "done":
        this.#settled.append(entry);
        return { state: "done", result: entry.text, atMs: entry.atMs, payloadHash };
      case "failed":
        this.#settled.append(entry);
        return { state: "failed", error: entry.text, atMs: entry.atMs, payloadHash };
    }
  }

  #grant(entry: ClaimEntry): ClaimGrant {
    const { leaseMs } = entry.bid;
    const isOurs = () => this.#find(entry.bid.key) === entry && entry.state === "claimed";
    return {
      fence: entry.fence,
      deadline: entry.expiresAt,
      periodMs: leaseMs,
      renew: async (): Promise<RenewalResult> => {
        if (!isOurs()) return { kind: "lost", holder: this.#find(entry.bid.key)?.bid };
        this.#expire(entry, leaseMs);
        return { kind: "ok", deadline: entry.expiresAt, periodMs: leaseMs };
      },
      settle: async (ending) => {
        if (!isOurs()) return this.#find(entry.bid.key) === entry && entry.state === ending.kind ? "settled" : "lost";
        this.#settle(entry, ending);
        return "settled";
      },
    };
  }

  #settle(entry: ClaimEntry, ending: Ending) {
    entry.state = ending.kind;
    entry.atMs = this.#clock.wallMs();
    if (ending.kind === "retry") {
      return ending.afterMs > 0 ? this.#expire(entry, ending.afterMs) : this.#remove(entry);
    }
    entry.text = ending.kind === "done" ? ending.result : ending.error;
    entry.settledAt = this.#clock.now();
    this.#settled.append(entry);
    this.#expire(entry, ending.ttlMs);
  }

  #expire(entry: ClaimEntry, afterMs: number) {
    entry.expiresAt = this.#clock.now() + afterMs;
    this.#agenda.put(entry.expiry, entry.expiresAt);
  }

  #makeRoom() {
    const oldest = this.#settled.first;
    if (!oldest) {
      throw new CoordinationError("full", `all ${this.#maxEntries} claims in memory are in flight; try again later`);
    }
    this.#remove(oldest);
    const now = this.#clock.now();
    if (oldest.expiresAt <= now) return;
    this.#events.evicted?.({ count: 1, maxEntries: this.#maxEntries, ageMs: now - oldest.settledAt });
  }

  #remove(entry: ClaimEntry) {
    // A settled entry that was claimed anew is another entry.
    if (this.#entries.get(entry.bid.key) === entry) this.#entries.delete(entry.bid.key);
    this.#settled.remove(entry);
    this.#agenda.remove(entry.expiry);
  }
}

class ClaimEntry {
  bid: ClaimBid;
  readonly fence: bigint;
  readonly expiry = new Appointment(this);
  readonly #expired: (entry: ClaimEntry) => void;
  state: "claimed" | Ending["kind"] = "claimed";
  /** The result or the error. */
  text = "";
  /** When it got into this state, for people. */
  atMs = 0;
  settledAt = 0;
  expiresAt = 0;
  older: ClaimEntry | undefined;
  newer: ClaimEntry | undefined;

  constructor(bid: ClaimBid, fence: bigint, expired: (entry: ClaimEntry) => void) {
    this.bid = bid;
    this.fence = fence;
    this.#expired = expired;
  }

  due(): void {
    this.#expired(this);
  }
}

/** Entries in an order. A Map would do, were finding its first not slow after many deletions. */
class EntryList {
  first: ClaimEntry | undefined;
  #last: ClaimEntry | undefined;

  /** Puts `entry` at the end, from wherever it was. */
  append(entry: ClaimEntry): void {
    this.remove(entry);
    entry.older = this.#last;
    if (this.#last) this.#last.newer = entry;
    else this.first = entry;
    this.#last = entry;
  }

  /** Harmless when it is not in the list. */
  remove(entry: ClaimEntry): void {
    const { older, newer } = entry;
    if (older) older.newer = newer;
    else if (this.first === entry) this.first = newer;
    if (newer) newer.older = older;
    else if (this.#last === entry) this.#last = older;
    entry.older = entry.newer = undefined;
  }
}
