import type {
  ClaimBid,
  ClaimGrant,
  ClaimResult,
  ClaimStore,
  Ending,
} from "../../src/coordination/claims/claim-store.ts";
import type { ClaimEvents } from "../../src/coordination/claims/claims.ts";
import { CoordinationError } from "../../src/coordination/errors.ts";
import type { Clock } from "../../src/time/index.ts";

/** Possible defects of evictions. */
export type RoomBug =
  | "evicts claims in flight"
  | "evicts half at once"
  | "evicts the newest first"
  | "does not move claims that are read"
  | "evicts before it removes expired claims"
  | "evicts without a word"
  | "grows without bound";

interface Entry {
  readonly bid: ClaimBid;
  state: "claimed" | Ending["kind"];
  expiresAt: number;
  settledAt: number;
}

/** A bounded store in the plainest way: a list that is searched from the front, the longest untouched first. */
export function naiveBoundedClaims(
  { clock, events, maxEntries }: { clock: Clock; events: ClaimEvents; maxEntries: number },
  bug?: RoomBug,
): ClaimStore {
  let entries: Entry[] = [];
  const isLive = ({ expiresAt }: Entry) => expiresAt > clock.now();
  const isSettled = ({ state }: Entry) => state === "done" || state === "failed";

  function touch(entry: Entry) {
    entries = [...entries.filter((other) => other !== entry), entry];
  }

  function evict(victims: readonly Entry[]) {
    entries = entries.filter((entry) => !victims.includes(entry));
    for (const { settledAt } of victims.filter(isLive)) {
      if (bug !== "evicts without a word") events.evicted?.({ count: 1, maxEntries, ageMs: clock.now() - settledAt });
    }
  }

  function makeRoom() {
    if (bug !== "evicts before it removes expired claims") entries = entries.filter(isLive);
    if (entries.length < maxEntries || bug === "grows without bound") return;
    const candidates = bug === "evicts claims in flight" ? entries : entries.filter(isSettled);
    if (candidates.length === 0) throw new CoordinationError("full", "full");
    const count = bug === "evicts half at once" ? Math.ceil(candidates.length / 2) : 1;
    evict(bug === "evicts the newest first" ? candidates.slice(-1) : candidates.slice(0, count));
  }

  async function claim(bid: ClaimBid): Promise<ClaimResult> {
    const found = entries.find((entry) => entry.bid.key === bid.key && isLive(entry));
    if (found) {
      const { payloadHash } = found.bid;
      if (isSettled(found) && bug !== "does not move claims that are read") touch(found);
      if (found.state === "done") return { state: "done", result: "", atMs: 0, payloadHash };
      if (found.state === "failed") return { state: "failed", error: "", atMs: 0, payloadHash };
      return { state: "in-flight", holder: undefined, retryAfterMs: found.expiresAt - clock.now(), payloadHash };
    }
    entries = entries.filter((entry) => entry.bid.key !== bid.key);
    makeRoom();
    const entry: Entry = { bid, state: "claimed", expiresAt: clock.now() + bid.leaseMs, settledAt: 0 };
    entries.push(entry);
    return { state: "new", grant: grant(entry) };
  }

  function grant(entry: Entry): ClaimGrant {
    const isOurs = () => entries.includes(entry) && isLive(entry) && entry.state === "claimed";
    const promise = () => ({ deadline: entry.expiresAt, periodMs: entry.bid.leaseMs });
    return {
      fence: 0n,
      ...promise(),
      async renew() {
        if (!isOurs()) return { kind: "lost", holder: undefined };
        entry.expiresAt = clock.now() + entry.bid.leaseMs;
        return { kind: "ok", ...promise() };
      },
      async settle(ending) {
        if (!isOurs())
          return entries.includes(entry) && isLive(entry) && entry.state === ending.kind ? "settled" : "lost";
        entry.state = ending.kind;
        entry.settledAt = clock.now();
        entry.expiresAt = clock.now() + (ending.kind === "retry" ? ending.afterMs : ending.ttlMs);
        touch(entry);
        return "settled";
      },
    };
  }

  return { guarantee: "process", claim, close: async () => {} };
}
