import type {
  ClaimBid,
  ClaimGrant,
  ClaimResult,
  ClaimStore,
  Ending,
  Taken,
} from "../../src/coordination/claims/claim-store.ts";
import type { RenewalResult } from "../../src/coordination/lease-renewer.ts";
import type { Clock } from "../../src/time/index.ts";
import { settle as aMoment } from "../doubles/manual-clock.ts";

/** Possible defects of a store. Each was found in a real one. */
export type Bug =
  | "asks, then marks"
  | "marks before the work"
  | "ignores ttls"
  | "forgets in half the time"
  | "unfinished claims never expire"
  | "expires by the asker's wall clock"
  | "renews without extending"
  | "renews any record"
  | "completes without looking whose it is"
  | "fails without looking whose it is"
  | "does not recognise its own completion"
  | "takes any completion for its own"
  | "keeps nothing when completed"
  | "frees what failed at once"
  | "never frees what failed"
  | "retries what failed for good"
  | "loses the holder"
  | "forgets the payload"
  | "forgets the time"
  | "cuts results at a separator"
  | "cuts keys short"
  | "counts fences from one";

interface Entry {
  bid: ClaimBid;
  fence: bigint;
  state: "claimed" | Ending["kind"];
  text: string;
  atMs: number;
  expiresAt: number;
  expiresAtWall: number;
}

/** What processes share. */
export interface NaiveData {
  readonly entries: Map<string, Entry>;
  readonly clock: Clock;
  fence: bigint;
}

export function naiveData(clock: Clock): NaiveData {
  return { entries: new Map(), clock, fence: 0n };
}

/** The rules of claims as plainly as they can be written, without bounds; with a bug in it, if asked for. */
export function naiveClaimStore(data: NaiveData, asker: Clock, bug?: Bug): ClaimStore {
  const { entries, clock } = data;
  const nameOf = ({ key }: ClaimBid) => (bug === "cuts keys short" ? key.toLowerCase().slice(-6) : key);

  function live(bid: ClaimBid): Entry | undefined {
    const entry = entries.get(nameOf(bid));
    return entry && !isOver(entry) ? entry : undefined;
  }

  function isOver({ state, expiresAt, expiresAtWall }: Entry): boolean {
    if (bug === "ignores ttls" && state !== "claimed") return false;
    if (bug === "unfinished claims never expire" && state === "claimed") return false;
    if (bug === "never frees what failed" && state === "retry") return false;
    return bug === "expires by the asker's wall clock" ? asker.wallMs() >= expiresAtWall : clock.now() >= expiresAt;
  }

  function keep(bid: ClaimBid, entry: Omit<Entry, "expiresAt" | "expiresAtWall" | "atMs">, forMs: number): Entry {
    const ms = bug === "forgets in half the time" && entry.state !== "claimed" ? forMs / 2 : forMs;
    const atMs = bug === "forgets the time" ? 0 : clock.wallMs();
    const kept = { ...entry, atMs, expiresAt: clock.now() + ms, expiresAtWall: asker.wallMs() + ms };
    entries.set(nameOf(bid), kept);
    return kept;
  }

  async function claim(bid: ClaimBid): Promise<ClaimResult> {
    const found = live(bid);
    if (bug === "asks, then marks") await aMoment();
    const isOurs = found?.state === "claimed" && found.bid.holder === bid.holder;
    if (found && !isOurs) return standing(found);

    if (!isOurs && bug !== "counts fences from one") data.fence += 1n;
    const fence = isOurs ? found.fence : bug === "counts fences from one" ? 1n : data.fence;
    keep(bid, { bid, fence, state: "claimed", text: "" }, bid.leaseMs);
    if (bug === "marks before the work") keep(bid, { bid, fence, state: "done", text: "" }, 60_000);
    return { state: "new", grant: grant(bid, fence) };
  }

  function standing({ bid, state, text, atMs, expiresAt }: Entry): Taken {
    const payloadHash = bug === "forgets the payload" ? undefined : bid.payloadHash;
    const who = bug === "loses the holder" ? "unknown" : bid.who;
    const holder = state === "claimed" ? { id: bid.holder, who, sinceMs: atMs, purpose: undefined } : undefined;
    if (state === "done") return { state, result: text, atMs, payloadHash };
    if (state === "failed") return { state, error: text, atMs, payloadHash };
    return { state: "in-flight", holder, retryAfterMs: Math.max(0, expiresAt - clock.now()), payloadHash };
  }

  function grant(bid: ClaimBid, fence: bigint): ClaimGrant {
    const promise = () => ({ deadline: clock.now() + bid.leaseMs, periodMs: bid.leaseMs });
    const mine = () => {
      const entry = live(bid);
      return entry?.fence === fence && entry.state === "claimed" ? entry : undefined;
    };

    async function renew(): Promise<RenewalResult> {
      const entry = bug === "renews any record" ? (live(bid) ?? ({} as Entry)) : mine();
      if (!entry) return { kind: "lost", holder: undefined };
      if (bug !== "renews without extending") {
        entry.expiresAt = clock.now() + bid.leaseMs;
        entry.expiresAtWall = asker.wallMs() + bid.leaseMs;
      }
      return { kind: "ok", ...promise() };
    }

    async function settle(ending: Ending): Promise<"settled" | "lost"> {
      const careless = ending.kind === "done" ? "completes" : "fails";
      if (!mine() && bug !== `${careless} without looking whose it is`) {
        const entry = live(bid);
        const wasSomebody = entry?.state === ending.kind;
        if (bug === "takes any completion for its own" && wasSomebody) return "settled";
        const wasUs = wasSomebody && entry.fence === fence;
        return wasUs && bug !== "does not recognise its own completion" ? "settled" : "lost";
      }
      record(ending);
      return "settled";
    }

    function record(ending: Ending) {
      const cut = (text: string) => (bug === "cuts results at a separator" ? (text.split("|")[0] as string) : text);
      const permanent = ending.kind === "failed" && bug === "retries what failed for good";
      if (bug === "keeps nothing when completed" || permanent) return entries.delete(nameOf(bid));
      if (ending.kind !== "retry") {
        const text = cut(ending.kind === "done" ? ending.result : ending.error);
        return keep(bid, { bid, fence, state: ending.kind, text }, ending.ttlMs);
      }
      if (ending.afterMs === 0 || bug === "frees what failed at once") return entries.delete(nameOf(bid));
      return keep(bid, { bid, fence, state: "retry", text: "" }, ending.afterMs);
    }

    return { fence, ...promise(), renew, settle };
  }

  return { guarantee: "process", claim, close: async () => {} };
}
