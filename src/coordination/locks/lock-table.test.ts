import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { Chance } from "../../../test/sim/chance.ts";
import { CoordinationError } from "../errors.ts";
import { keyOf } from "../key.ts";
import { validityFrom } from "../lease-renewer.ts";
import type { Bid, Grant, LockStore, Terms } from "./lock-store.ts";
import { type LockTableOptions, locksOver } from "./lock-table.ts";
import type { ReleaseOutcome } from "./locks.ts";

const key = keyOf("target", "a");

describe("a lock table", () => {
  it("has a ttl of 30 s and a wait of 30 s by default", async () => {
    const { locks, store, clock } = table();

    const wait = locks.acquire(key);
    const refused = expect(wait).rejects.toMatchObject({ code: "timeout" });
    await clock.advance(30_010);

    await refused;
    expect(store.bids[0]).toMatchObject({ key, ttlMs: 30_000, wait: true, cohort: 1 });
  });

  it("takes its defaults from its options", async () => {
    const { locks, store } = table({ defaults: { ttlMs: 5_000, cohort: 8 } });

    void locks.acquire(key);

    expect(store.bids[0]).toMatchObject({ ttlMs: 5_000, cohort: 8 });
  });

  it("names holders after the client and the acquisition", async () => {
    const { locks, store } = table({ clientId: "me" });

    for (const name of ["a", "b", "c"]) void locks.acquire(keyOf(name));

    expect(store.bids.map(({ holder }) => holder)).toEqual(["me.0", "me.1", "me.2"]);
  });

  it("has one open bid for a key with many waiters", async () => {
    const { locks, store } = table();

    for (let i = 0; i < 10; i++) void locks.acquire(key);

    expect(store.bids).toHaveLength(1);
    expect(locks.load()).toMatchObject({ held: 0, waiting: 10 });
  });

  it("bids again after its release, so that waiters of other processes come first", async () => {
    const { locks, store } = table();
    const first = locks.acquire(key);
    void locks.acquire(key);
    store.grant();

    void (await first).release();

    expect(store.calls).toEqual(["ask", "release", "ask"]);
  });

  it("ignores the response to a withdrawn bid", async () => {
    const { locks, store } = table();
    const stop = new AbortController();
    const wait = expect(locks.acquire(key, { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });

    stop.abort();
    store.grant();
    await wait;

    expect(store.calls).toEqual(["ask", "withdraw"]);
    expect(locks.load()).toEqual({ held: 0, waiting: 0, oldestWaitMs: 0 });
  });

  it("does not take a late response for the response to a newer bid", async () => {
    const { locks, store } = table();
    const stop = new AbortController();
    const quitter = expect(locks.acquire(key, { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });
    stop.abort();
    await quitter;
    let granted = false;
    void locks.acquire(key).then(() => {
      granted = true;
    });

    store.grant({ bid: 0 });
    await settle();
    expect(granted).toBe(false);
    store.grant({ bid: 1 });
    await settle();

    expect(granted).toBe(true);
  });

  it("keeps a bid open while a caller in this process waits", async () => {
    const { locks, store } = table();
    const stop = new AbortController();
    const quitter = expect(locks.acquire(key, { signal: stop.signal })).rejects.toMatchObject({ code: "aborted" });
    const next = locks.acquire(key);

    stop.abort();
    store.grant();
    await quitter;

    (await next).assertHeld();
    expect(store.calls).toEqual(["ask"]);
  });

  it("rejects all waiters of this process with the error of the first", async () => {
    const { locks, store } = table();
    const waits = [1, 2, 3].map(() => expect(locks.acquire(key)).rejects.toMatchObject({ code: "unavailable" }));

    store.bids[0]?.failed(new CoordinationError("unavailable", "no answer"));

    await Promise.all(waits);
    expect(locks.load().waiting).toBe(0);
  });

  it("releases a late grant, and bids again for the remaining waiters", async () => {
    const { locks, store } = table();
    const wait = locks.acquire(key);

    store.grant({ terms: { deadline: 900 } });
    store.grant({ bid: 1 });

    (await wait).assertHeld();
    expect(store.calls).toEqual(["ask", "release", "ask"]);
  });

  it("releases a late grant, and rejects the caller that does not wait", async () => {
    const { locks, store } = table();
    const tried = expect(locks.tryAcquire(key)).rejects.toMatchObject({ code: "unavailable" });

    store.grant({ terms: { deadline: 900 } });

    await tried;
    expect(store.calls).toEqual(["ask", "release"]);
  });

  it("bids once and never queues for a caller that does not wait, even if the response takes long", async () => {
    const { locks, store, clock } = table();
    const acquired = locks.acquire(key, { waitMs: 0 });

    await clock.advance(1_000);
    store.grant();

    (await acquired).assertHeld();
    expect(store.bids.map(({ wait }) => wait)).toEqual([false]);
    expect(store.calls).toEqual(["ask"]);
  });

  it("rejects a caller that does not wait while the lock is held, and leaves nothing behind", async () => {
    const { locks, store } = table();
    const acquired = locks.acquire(key, { waitMs: 0 });

    store.bids[0]?.busy(undefined);

    await expect(acquired).rejects.toMatchObject({ code: "timeout", message: expect.stringContaining("waitMs is 0") });
    expect(store.calls).toEqual(["ask"]);
    expect(locks.load()).toEqual({ held: 0, waiting: 0, oldestWaitMs: 0 });
  });

  it("rejects defaults that no caller could use", () => {
    expect(() => table({ maxTtlMs: 10_000 })).toThrow(
      new TypeError("defaults: ttlMs must be between 500 (renewal needs several round trips) and 10000; got 30000"),
    );
    expect(() => table({ defaults: { cohort: 0 } })).toThrow(/^defaults: cohort must be/);
    expect(() => table({ maxTtlMs: 10_000, defaults: { ttlMs: 10_000 } })).not.toThrow();
  });

  it("confirms soon a grant that the store will not keep for long", async () => {
    const { locks, store, clock } = table();
    const wait = locks.acquire(key);

    store.grant({ terms: { unconfirmed: true } });
    await wait;
    await clock.advance(200);

    expect(store.calls).toEqual(["ask", "renew"]);
  });

  it("needs no confirmation of a grant that is released first", async () => {
    const { locks, store, clock } = table();
    const wait = locks.acquire(key);

    store.grant({ terms: { unconfirmed: true } });
    await (await wait).release();
    await clock.advance(200);

    expect(store.calls).toEqual(["ask", "release"]);
  });

  it("passes a lock on while it has reserved fences, then bids again", async () => {
    const { locks, store } = table();
    const fences: bigint[] = [];
    const runs = [1, 2, 3, 4].map(() => locks.run(key, async ({ fence }) => void fences.push(fence), { cohort: 3 }));

    store.grant({ terms: { fence: 10n, fences: 3 } });
    while (store.bids.length < 2) await settle();
    store.grant({ bid: 1, terms: { fence: 20n, fences: 3 } });
    await Promise.all(runs);

    expect(fences).toEqual([10n, 11n, 12n, 20n]);
    expect(store.calls).toEqual(["ask", "release", "ask", "release"]);
  });

  it("does not pass on a lost lock", async () => {
    const { locks, store, clock } = table();
    const first = locks.acquire(key, { cohort: 3 });
    void locks.acquire(key, { cohort: 3, waitMs: 100_000 }).catch(() => {});
    store.grant({ terms: { fences: 3 } });
    const lease = await first;

    store.renewal = () => new Promise(() => {});
    await clock.advance(40_000);

    expect(await lease.release()).toEqual({ released: false, reason: "lost" });
    expect(store.calls.filter((call) => call === "ask")).toHaveLength(2);
  });

  it("removes a key without holder or waiter", async () => {
    const { locks, store } = table();
    for (let i = 0; i < 100; i++) {
      const lease = locks.acquire(keyOf("k", i));
      store.grant({ bid: i });
      await (await lease).release();
    }

    expect(locks.load()).toEqual({ held: 0, waiting: 0, oldestWaitMs: 0 });
  });

  it("leaves no timer behind when nothing is held or waited for", async () => {
    const { locks, store, clock } = table();
    const lease = locks.acquire(key);
    store.grant();

    await (await lease).release();

    expect(clock.pendingTimers).toBe(0);
  });

  it("refuses a ttl longer than the store can keep", async () => {
    const { locks } = table({ maxTtlMs: 60_000 });

    await expect(locks.acquire(key, { ttlMs: 60_001 })).rejects.toThrow(
      new TypeError("ttlMs must be between 500 (renewal needs several round trips) and 60000; got 60001"),
    );
  });

  it("reports the wait of a caller behind a standby", async () => {
    const { locks, clock } = table();
    void locks.acquire(key, { isStandby: true });
    void locks.acquire(key);

    await clock.advance(1_000);

    expect(locks.load()).toEqual({ held: 0, waiting: 1, oldestWaitMs: 1_000 });
  });

  it("closes the store once when it is closed twice", async () => {
    const { locks, store } = table();

    await Promise.all([locks.close(), locks.close()]);

    expect(store.calls).toEqual(["close"]);
  });

  it("closes the store after all leases were released", async () => {
    const { locks, store } = table();
    const lease = locks.acquire(key);
    store.grant();
    await lease;

    await locks.close();

    expect(store.calls).toEqual(["ask", "release", "close"]);
  });
});

function table(options: Partial<LockTableOptions> = {}) {
  const clock = new ManualClock();
  const store = new ScriptedStore(clock);
  return { clock, store, locks: locksOver(store, { clock, random: new Chance(1), ...options }) };
}

/** A store that responds when the test resolves it. */
class ScriptedStore implements LockStore {
  readonly guarantee = "single";
  readonly bids: Bid[] = [];
  readonly calls: string[] = [];
  renewal = async (_grant: Grant) => ({ kind: "ok", ...validityFrom(this.#clock.now(), 30_000, 5) }) as const;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  grant({ bid = 0, terms = {} }: { bid?: number; terms?: Partial<Terms> } = {}): void {
    const promised = validityFrom(this.#clock.now(), 30_000, 5);
    this.bids[bid]?.granted({ fence: 1n, fences: 1, ...promised, ...terms });
  }

  ask(bid: Bid): void {
    this.calls.push("ask");
    this.bids.push(bid);
  }

  withdraw(): void {
    this.calls.push("withdraw");
  }

  renew(grant: Grant) {
    this.calls.push("renew");
    return this.renewal(grant);
  }

  async release(): Promise<ReleaseOutcome> {
    this.calls.push("release");
    return { released: true };
  }

  async close(): Promise<void> {
    this.calls.push("close");
  }
}
