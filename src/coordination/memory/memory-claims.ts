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
  readonly #settled = new Set<ClaimEntry>();
  /**
   * Also visits entries that are added later. All entries before its position were evicted, so the next one is the oldest; a
   * new iterator for each eviction would pass over the places of all removed entries.
   */
  #oldestSettled = this.#settled.values();
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
      this.#moveToEnd(entry);
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
    this.#moveToEnd(entry);
    this.#expire(entry, ending.ttlMs);
  }

  #expire(entry: ClaimEntry, afterMs: number) {
    entry.expiresAt = this.#clock.now() + afterMs;
    this.#agenda.put(entry.expiry, entry.expiresAt);
  }

  #moveToEnd(entry: ClaimEntry) {
    this.#settled.delete(entry);
    this.#settled.add(entry);
  }

  #makeRoom() {
    const oldest = this.#nextOldest();
    if (!oldest) {
      throw new CoordinationError("full", `all ${this.#maxEntries} claims in memory are in flight; try again later`);
    }
    this.#remove(oldest);
    const now = this.#clock.now();
    if (oldest.expiresAt <= now) return;
    this.#events.evicted?.({ count: 1, maxEntries: this.#maxEntries, ageMs: now - oldest.settledAt });
  }

  #nextOldest(): ClaimEntry | undefined {
    const { value, done } = this.#oldestSettled.next();
    if (!done) return value;
    // An iterator that has come to the end stays there.
    this.#oldestSettled = this.#settled.values();
    return this.#oldestSettled.next().value;
  }

  #remove(entry: ClaimEntry) {
    // A settled entry that was claimed anew is another entry.
    if (this.#entries.get(entry.bid.key) === entry) this.#entries.delete(entry.bid.key);
    this.#settled.delete(entry);
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
}
