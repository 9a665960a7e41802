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

/** Expired entries are removed this much late. Whether an entry has expired is computed exactly on each read. */
const tidyingResolutionMs = 100;

/**
 * A bounded set of claims. The cost of each operation is constant. Expired entries are evicted
 * first, then the least recently read finished ones; never a claim in flight.
 */
export class MemoryClaimStore implements ClaimStore {
  readonly guarantee: Guarantee = "process";
  readonly #clock: Clock;
  readonly #events: ClaimEvents;
  readonly #maxEntries: number;
  readonly #agenda: Agenda;
  readonly #entries = new Map<Key, ClaimEntry>();
  /** Entries that may be evicted, the least recently read first. */
  readonly #settled = new EntryList();
  #fence: bigint;

  constructor({
    clock,
    events = {},
    maxEntries = 10_000,
  }: Pick<MemoryClaimsOptions, "clock" | "events" | "maxEntries">) {
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
    const entry: ClaimEntry = {
      bid,
      fence: this.#fence,
      state: "claimed",
      text: "",
      atMs: this.#clock.wallMs(),
      settledAt: 0,
      expiresAt: 0,
      expiry: new Appointment({ due: () => this.#remove(entry) }),
      older: undefined,
      newer: undefined,
    };
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
    const { state, text, atMs } = entry;
    const { payloadHash, holder: id, who } = entry.bid;
    if (state === "done" || state === "failed") {
      this.#settled.append(entry);
      return state === "done" ? { state, result: text, atMs, payloadHash } : { state, error: text, atMs, payloadHash };
    }
    const holder = state === "claimed" ? { id, who, sinceMs: atMs, purpose: undefined } : undefined;
    return { state: "in-flight", holder, retryAfterMs: entry.expiresAt - this.#clock.now(), payloadHash };
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

interface ClaimEntry {
  bid: ClaimBid;
  readonly fence: bigint;
  readonly expiry: Appointment;
  state: "claimed" | Ending["kind"];
  /** The result or the error. */
  text: string;
  /** The time of the last change of the state, for display. */
  atMs: number;
  settledAt: number;
  expiresAt: number;
  older: ClaimEntry | undefined;
  newer: ClaimEntry | undefined;
}

/**
 * Entries in order. Not a Set: finding its first entry is slow after many deletions, and an iterator that stays at its
 * position keeps all earlier hash tables of the Set in memory.
 */
class EntryList {
  first: ClaimEntry | undefined;
  #last: ClaimEntry | undefined;

  /** Moves or adds `entry` to the end. */
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
