import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryBackend } from "../../../test/coordination/claims-backends.ts";
import { naiveBoundedClaims, type RoomBug } from "../../../test/coordination/naive-bounded-claims.ts";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import type { ClaimGrant, ClaimStore, Ending } from "../claims/claim-store.ts";
import { claimsContract } from "../claims/claims.contract.ts";
import type { ClaimEvents, Eviction } from "../claims/claims.ts";
import { keyOf } from "../key.ts";
import { MemoryClaimStore } from "./memory-claims.ts";

claimsContract("memory", memoryBackend);

describe("a full memory store", () => {
  it("evicts expired claims first, without an event", async () => {
    const { store, clock, evictions } = setUp({ maxEntries: 2 });
    await done(store, "a", { ttlMs: 1_000 });
    await done(store, "b", { ttlMs: 60_000 });

    await clock.advance(1_000);
    await done(store, "c");

    expect(await states(store, "b", "c")).toEqual(["done", "done"]);
    expect(evictions).toEqual([]);
  });

  it("then evicts the oldest finished claim, with an event", async () => {
    const { store, clock, evictions } = setUp({ maxEntries: 2 });
    await done(store, "a");
    await clock.advance(300);
    await done(store, "b");

    await claim(store, "c");

    expect(evictions).toEqual([{ count: 1, maxEntries: 2, ageMs: 300 }]);
    expect(await states(store, "b", "c")).toEqual(["done", "in-flight"]);
  });

  it("evicts one claim, not half of them", async () => {
    const { store } = setUp({ maxEntries: 10 });
    for (let i = 0; i < 10; i++) await done(store, `${i}`);

    await claim(store, "one more");

    expect(store.size).toBe(10);
  });

  it("evicts unread claims before claims that were read", async () => {
    const { store } = setUp({ maxEntries: 2 });
    await done(store, "hot");
    await done(store, "cold");

    await claim(store, "hot");
    await claim(store, "new");

    expect(await states(store, "hot", "new")).toEqual(["done", "in-flight"]);
  });

  it("evicts claims without a repetition first", async () => {
    const { store, clock } = setUp({ maxEntries: 2 });
    await done(store, "again", { ttlMs: 1_000 });
    await done(store, "once");
    await clock.advance(1_000);
    await done(store, "again");

    await claim(store, "new");

    expect(await states(store, "again", "new")).toEqual(["done", "in-flight"]);
  });

  it("never forgets a claim in flight; it refuses new ones instead", async () => {
    const { store } = setUp({ maxEntries: 2 });
    await claim(store, "a");
    const b = await claim(store, "b");
    await settle(b, { kind: "retry", afterMs: 60_000 });

    await expect(claim(store, "c")).rejects.toMatchObject({ name: "CoordinationError", code: "full" });

    expect(await states(store, "a", "b")).toEqual(["in-flight", "in-flight"]);
  });

  it("has room again when a claim in flight has expired", async () => {
    const { store, clock } = setUp({ maxEntries: 1 });
    await claim(store, "a");
    await clock.advance(1_000);

    expect((await claim(store, "b")).state).toBe("new");
  });

  it("holds 10,000 claims by default", async () => {
    const clock = new ManualClock();
    const store = new MemoryClaimStore({ clock });
    for (let i = 0; i < 10_001; i++) await done(store, `${i}`);

    expect(store.size).toBe(10_000);
  });
});

describe("a memory store", () => {
  it("removes expired claims without a call", async () => {
    const { store, clock } = setUp({ maxEntries: 10 });
    await claim(store, "a");
    await done(store, "b", { ttlMs: 5_000 });

    await clock.advance(5_100);

    expect(store.size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it("decides by the clock even when its timer is late", async () => {
    const { store, clock } = setUp({ maxEntries: 10 });
    await done(store, "a", { ttlMs: 1_000 });

    clock.jump(999);
    expect(await states(store, "a")).toEqual(["done"]);
    clock.jump(1);
    expect(await states(store, "a")).toEqual(["new"]);
  });

  it("has no timer left after it was closed", async () => {
    const { store, clock } = setUp({ maxEntries: 10 });
    await done(store, "a");

    await store.close();

    expect(clock.pendingTimers).toBe(0);
  });

  it("rejects a size below 1", () => {
    expect(() => new MemoryClaimStore({ clock: new ManualClock(), maxEntries: 0 })).toThrow(TypeError);
  });

  it("returns and evicts the same as a plain list, for any operations in any order", async () => {
    await fc.assert(
      property((options) => new MemoryClaimStore(options)),
      { numRuns: 500 },
    );
  });

  it.each<RoomBug>([
    "evicts claims in flight",
    "evicts half at once",
    "evicts the newest first",
    "does not move claims that are read",
    "evicts before it removes expired claims",
    "evicts without a word",
    "grows without bound",
  ])("would be found out if it %s", async (bug) => {
    const result = await fc.check(
      property((options) => naiveBoundedClaims(options, bug)),
      { numRuns: 2_000 },
    );
    expect(result.failed).toBe(true);
  });
});

interface StoreOptions {
  readonly clock: ManualClock;
  readonly events: ClaimEvents;
  readonly maxEntries: number;
}

type Step =
  | { readonly do: "claim"; readonly key: number }
  | { readonly do: "settle"; readonly which: number; readonly ending: Ending }
  | { readonly do: "renew"; readonly which: number }
  | { readonly do: "pass"; readonly ms: number };

/** `make`'s store and the naive one return the same results. */
function property(make: (options: StoreOptions) => ClaimStore) {
  // Whole tenths of a second, where the store's coarse timer and the exact model agree on the removed entries.
  const ms = fc.constantFrom(100, 300, 1_000, 60_000);
  const ending = fc.oneof(
    ms.map((ttlMs): Ending => ({ kind: "done", result: "", ttlMs })),
    ms.map((ttlMs): Ending => ({ kind: "failed", error: "", ttlMs })),
    ms.map((afterMs): Ending => ({ kind: "retry", afterMs })),
  );
  const which = fc.nat({ max: 2 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("claim" as const), key: fc.nat({ max: 5 }) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("settle" as const), which, ending }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("renew" as const), which }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("pass" as const), ms }) },
  );
  return fc.asyncProperty(
    fc.array(step, { minLength: 20, maxLength: 60 }),
    fc.integer({ min: 1, max: 4 }),
    async (steps, size) => {
      const actual = await collectResults(make, steps, size);
      expect(actual).toEqual(await collectResults((options) => naiveBoundedClaims(options), steps, size));
    },
  );
}

/** All results, in order. */
async function collectResults(make: (options: StoreOptions) => ClaimStore, steps: readonly Step[], maxEntries: number) {
  const clock = new ManualClock();
  const results: unknown[] = [];
  const store = make({ clock, maxEntries, events: { evicted: (eviction) => void results.push(eviction) } });
  const grants: ClaimGrant[] = [];
  for (const [i, step] of steps.entries()) {
    if (step.do === "pass") await clock.advance(step.ms);
    if (step.do === "settle") results.push(await grants.at(-1 - step.which)?.settle(step.ending));
    if (step.do === "renew") results.push((await grants.at(-1 - step.which)?.renew())?.kind);
    if (step.do !== "claim") continue;
    const bid = { key: keyOf("k", step.key), holder: `${i}`, who: "", leaseMs: 1_000, payloadHash: undefined };
    const standing = await store.claim(bid).catch((error) => ({ state: error.code as "full" }));
    results.push(standing.state);
    if (standing.state === "new") grants.push(standing.grant);
  }
  await store.close();
  return results;
}

function setUp({ maxEntries }: { maxEntries: number }) {
  const clock = new ManualClock();
  const evictions: Eviction[] = [];
  const events = { evicted: (eviction: Eviction) => void evictions.push(eviction) };
  return { clock, evictions, store: new MemoryClaimStore({ clock, maxEntries, events }) };
}

let holders = 0;
function claim(store: ClaimStore, name: string) {
  const bid = { key: keyOf(name), holder: `h${holders++}`, who: "", leaseMs: 1_000, payloadHash: undefined };
  return store.claim(bid);
}

async function settle(standing: Awaited<ReturnType<typeof claim>>, ending: Ending) {
  if (standing.state !== "new") throw new Error(`${standing.state}, not new`);
  expect(await standing.grant.settle(ending)).toBe("settled");
}

async function done(store: ClaimStore, name: string, { ttlMs = 3_600_000 } = {}) {
  await settle(await claim(store, name), { kind: "done", result: "", ttlMs });
}

/** Asking touches; ask last. */
async function states(store: ClaimStore, ...names: readonly string[]): Promise<string[]> {
  const found = [];
  for (const name of names) found.push((await claim(store, name)).state);
  return found;
}
