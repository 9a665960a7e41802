import { getEventListeners, setMaxListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { CoordinationError } from "../errors.ts";
import { type Key, keyOf } from "../key.ts";
import type { Guarantee, Lease, LockEvents, Locks } from "./locks.ts";

/**
 * What a backend can show, besides locks that work:
 * - `processes`: several clients share the locks, and a holder that vanishes is followed by another
 * - `network`: requests to the backend can be counted, delayed, lost and refused
 * - `records`: another client can change the stored locks
 * - `damage`: a stored lock can be left without its times
 * - `permissions`: the backend can forbid
 * - `cohort`: a lock can be passed on inside a process
 * - `batching`: operations that are due together share a request
 * - `deafness`: a client can be cut off from pushed messages, and from nothing else
 */
export type Ability =
  | "processes"
  | "network"
  | "records"
  | "damage"
  | "permissions"
  | "cohort"
  | "batching"
  | "deafness";

export interface ClientOptions {
  /** How wrong its wall clock is. */
  readonly skewMs?: number;
  readonly events?: LockEvents;
}

/** One store, its clients, time, and faults between them. Created anew for each case. */
export interface LockBench {
  readonly abilities: readonly Ability[];
  readonly guarantee: Guarantee;
  /** A ttl that is short here. */
  readonly ttlMs: number;
  /** After so long a client takes a silent backend for gone. */
  readonly timeoutMs: number;
  /** How many keys are many here. */
  readonly manyKeys: number;
  /**
   * Locks as another process has them, with its own identity, clock and connection: `test/pod/1`, `test/pod/2`, …
   * Their leases last `ttlMs` and they wait for an hour by default.
   */
  client(options?: ClientOptions): Promise<Locks>;
  wallMs(): number;
  advance(ms: number): Promise<void>;
  /** Lets happen what needs no time. */
  settle(): Promise<void>;
  /** Waits until every question was answered that a client has asked its backend. */
  quiet(): Promise<void>;
  /** The client's process stands still while time goes on. */
  pause(client: Locks): void;
  resume(client: Locks): void;
  /** The client's machine loses power: it never responds again, and no connection is closed. */
  vanish(client: Locks): void;
  /** From now on nothing reaches the client or comes from it, with its connections open. */
  sever(client: Locks): void;
  /** From now on every request of the client is rejected. */
  refuse(client: Locks): Promise<void>;
  slowReplies(client: Locks, ms: number): void;
  /** The client's next request is done, but the connection breaks before the answer. */
  loseNextReply(client: Locks): void;
  deafen(client: Locks): void;
  heal(client: Locks): void;
  /** How many requests the client has sent. */
  requests(client: Locks): number;
  /** Whom the backend has on record. */
  holderOf(key: Key): Promise<string | undefined>;
  deleteStored(key: Key): Promise<void>;
  /** Puts a lock of another key where the lock of this one is stored. */
  occupy(key: Key): Promise<void>;
  /** Stores a lock of this key without its start and duration. */
  damage(key: Key): Promise<void>;
  forbid(verb: "create" | "update"): void;
  close(): Promise<void>;
}

export interface LockCase {
  readonly name: string;
  /** What a backend must be able to show to be asked. */
  readonly needs?: readonly Ability[];
  run(scene: Scene): Promise<void>;
}

/** What a case finds: three clients, of as many processes where the backend has them; else they are one and the same. */
export interface Scene {
  readonly bench: LockBench;
  readonly ttlMs: number;
  readonly a: Locks;
  readonly b: Locks;
  readonly c: Locks;
}

export interface ContractOptions {
  readonly abilities: readonly Ability[];
  /** For a backend on real time: cases wait beside each other. */
  readonly concurrent?: boolean;
  /** Cases that the backend is known to fail. Each is a bug to be mended, not a difference to live with. */
  readonly except?: readonly string[];
}

/** What all locks promise, on any backend. */
export function locksContract(
  name: string,
  makeBench: () => Promise<LockBench>,
  { abilities, concurrent = false, except = [] }: ContractOptions,
): void {
  describe(`${name}: locks`, { concurrent }, () => {
    for (const lockCase of casesFor(abilities).filter(({ name }) => !except.includes(name))) {
      it(lockCase.name, async () => {
        const bench = await makeBench();
        try {
          await runCase(lockCase, bench);
        } finally {
          await bench.close();
        }
      });
    }
  });
}

/** Resolves if the bench passes the case. */
export async function runCase(lockCase: LockCase, bench: LockBench): Promise<void> {
  const { ttlMs } = bench;
  const a = await bench.client();
  const b = bench.abilities.includes("processes") ? await bench.client() : a;
  const c = bench.abilities.includes("processes") ? await bench.client() : a;
  await lockCase.run({ bench, ttlMs, a, b, c });
}

/** The cases for a backend with these abilities. */
export function casesFor(abilities: readonly Ability[]): readonly LockCase[] {
  return lockCases.filter(({ needs = [] }) => needs.every((need) => abilities.includes(need)));
}

const key = keyOf("target", "payment/deployment/payment-api");
const hour = 3_600_000;

const takingTurns: readonly LockCase[] = [
  {
    name: "a failed tryAcquire does not reject the waiters behind it",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      bench.loseNextReply(a);
      const tried = watch(a.tryAcquire(key));
      const waiting = watch(a.acquire(key));
      await soon(bench, tried.settled, ttlMs);
      await tried.value?.release();

      (await soon(bench, waiting, ttlMs)).assertHeld();
    },
  },
  {
    name: "a free lock is granted at once",
    async run({ ttlMs, a }) {
      const lease = await a.acquire(key);

      lease.assertHeld();
      expect(lease.key).toBe(key);
      expect(lease.signal.aborted).toBe(false);
      expect(lease.remainingMs()).toBeGreaterThan(ttlMs / 2);
    },
  },
  {
    name: "it reports its guarantee",
    async run({ bench, a }) {
      expect(a.guarantee).toBe(bench.guarantee);
    },
  },
  {
    name: "a second caller of the same process waits",
    async run({ bench, ttlMs, a }) {
      const first = await a.acquire(key);

      const second = watch(a.acquire(key));
      await bench.advance(ttlMs / 2);

      expect(second.state).toBe("pending");
      await first.release();
      expect((await soon(bench, second, ttlMs)).holder).not.toBe(first.holder);
    },
  },
  {
    name: "a caller of another process waits",
    needs: ["processes"],
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);

      const second = watch(b.acquire(key));
      await bench.advance(ttlMs / 2);

      expect(second.state).toBe("pending");
      await first.release();
      (await soon(bench, second, ttlMs)).assertHeld();
    },
  },
  {
    name: "concurrent callers get the lock one at a time",
    async run({ bench, ttlMs, a, b, c }) {
      let inside = 0;
      let most = 0;
      const work = async () => {
        most = Math.max(most, ++inside);
        await bench.settle();
        inside--;
      };

      const runs = [a, b, c].flatMap((locks) => times(5, () => locks.run(key, work)));
      await soon(bench, Promise.all(runs), 20 * ttlMs);

      expect(most).toBe(1);
    },
  },
  {
    name: "each acquisition is a holder of its own",
    async run({ bench, ttlMs, a, b }) {
      const holders = [];
      for (const locks of [a, a, b]) {
        const lease = await soon(bench, locks.acquire(key), ttlMs);
        holders.push(lease.holder);
        await lease.release();
      }

      expect(new Set(holders).size).toBe(3);
    },
  },
  {
    name: "waiters of one process are served in the order they came",
    async run({ bench, ttlMs, a }) {
      const first = await a.acquire(key);
      const served: number[] = [];

      const runs = times(5, (i) => a.run(key, async () => void served.push(i)));
      await first.release();
      await soon(bench, Promise.all(runs), ttlMs);

      expect(served).toEqual([0, 1, 2, 3, 4]);
    },
  },
  {
    name: "waiters of several processes are served in the order they came",
    needs: ["processes"],
    async run({ bench, ttlMs, a, b, c }) {
      const others = [b, c, await bench.client()];
      const first = await a.acquire(key);
      const served: number[] = [];

      const runs = [];
      for (const [i, locks] of others.entries()) {
        runs.push(locks.run(key, async () => void served.push(i)));
        await bench.quiet();
      }
      await first.release();
      await soon(bench, Promise.all(runs), ttlMs);

      expect(served).toEqual([0, 1, 2]);
    },
  },
  {
    name: "a caller that releases a lock and acquires it again queues behind the waiters",
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);
      const waiting = watch(b.acquire(key));
      await bench.quiet();

      const released = first.release();
      const again = watch(a.acquire(key));
      await released;

      const second = await soon(bench, waiting, ttlMs);
      expect(again.state).toBe("pending");
      await second.release();
      await soon(bench, again, ttlMs);
    },
  },
  {
    name: "with cohort 1 a lock does not stay in a process while another one waits",
    needs: ["processes"],
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);
      const served: string[] = [];
      const wait = (locks: Locks, name: string) => locks.run(key, async () => void served.push(name));

      const runs = [wait(b, "b")];
      await bench.quiet();
      runs.push(wait(a, "a2"), wait(a, "a3"));
      await first.release();
      await soon(bench, Promise.all(runs), ttlMs);

      expect(served).toEqual(["b", "a2", "a3"]);
    },
  },
  {
    name: "different keys do not wait for each other",
    async run({ bench, ttlMs, a, b }) {
      await a.acquire(key);

      const other = await soon(bench, b.acquire(keyOf("target", "other")), ttlMs / 2);

      other.assertHeld();
    },
  },
  {
    name: "names with capitals, slashes and separators are different locks",
    async run({ a }) {
      const long = "payment/deployment/".repeat(20);
      const names = ["Node/worker-1", "node/worker-1", "a/b-c", "a-b/c", "a:b", `${long}1`, `${long}2`];
      const keys = [...names.map((name) => keyOf(name)), keyOf("a", "b")];

      const granted = await Promise.all(keys.map((one) => a.tryAcquire(one)));

      expect(granted.map((lease) => lease?.key)).toEqual(keys);
    },
  },
  {
    name: "a key among thousands of others does not disturb its waiter",
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);
      const waiting = watch(b.acquire(key));
      const late = watch(a.acquire(key));

      const released = first.release();
      await comeAndGo(a, bench.manyKeys);
      await released;
      await soon(bench, Promise.race([waiting.promise, late.promise]), ttlMs);
      const intruder = await soon(bench, a.tryAcquire(key), ttlMs);

      const held = [waiting.value, late.value, intruder].filter((lease) => lease && lease.remainingMs() > 0);
      expect(held.length).toBeLessThanOrEqual(1);
    },
  },
  {
    name: "tryAcquire takes a free lock",
    async run({ a, b }) {
      const lease = await a.tryAcquire(key);

      lease?.assertHeld();
      await lease?.release();
      expect(await b.tryAcquire(key)).toBeDefined();
    },
  },
  {
    name: "tryAcquire never waits, and returns undefined while the lock is held",
    async run({ bench, ttlMs, a, b }) {
      await a.acquire(key);

      const tries = [a, b].map((locks) => watch(locks.tryAcquire(key)));
      const answers = await soon(bench, Promise.all(tries.map((one) => one.promise)), ttlMs / 4);

      expect(answers).toEqual([undefined, undefined]);
    },
  },
  {
    name: "a caller that arrives during a tryAcquire is not rejected with it",
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);

      const tried = watch(b.tryAcquire(key));
      const waiting = watch(b.acquire(key));

      expect(await soon(bench, tried, ttlMs / 4)).toBeUndefined();
      await first.release();
      (await soon(bench, waiting, ttlMs)).assertHeld();
    },
  },
  {
    name: "tryAcquire does not overtake waiters",
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);
      const waiting = watch(b.acquire(key));
      await bench.quiet();

      const released = first.release();
      const tried = a.tryAcquire(key);
      await released;

      expect(await soon(bench, tried, ttlMs)).toBeUndefined();
      (await soon(bench, waiting, ttlMs)).assertHeld();
    },
  },
];

const waiting: readonly LockCase[] = [
  {
    name: "contention reports the holder, its start and its purpose",
    needs: ["processes"],
    async run({ bench, a }) {
      const reported: unknown[] = [];
      const locks = await bench.client({ events: { contended: (_key, holder) => reported.push(holder) } });
      const lease = await a.acquire(key, { purpose: "restart of payment" });

      watch(locks.acquire(key));
      await bench.quiet();

      const sinceMs = expect.closeTo(bench.wallMs(), -5);
      expect(reported).toEqual([{ id: lease.holder, who: "test/pod/1", sinceMs, purpose: "restart of payment" }]);
    },
  },
  {
    name: "a wait ends at waitMs with `timeout`, and the error names the holder and its purpose",
    async run({ bench, ttlMs, a, b }) {
      await a.acquire(key, { purpose: "restart of payment" });

      const wait = watch(b.acquire(key, { waitMs: ttlMs }));
      await bench.advance(0.8 * ttlMs);

      expect(wait.state).toBe("pending");
      const error = await failure(bench, wait, ttlMs / 2);
      expect(error.code).toBe("timeout");
      expect(error.message).toContain("held by test/pod/1 for restart of payment");
    },
  },
  {
    name: "a waiter that gave up is not granted the lock later",
    async run({ bench, ttlMs, a, b, c }) {
      const first = await a.acquire(key);
      await failure(bench, b.acquire(key, { waitMs: ttlMs / 4 }), ttlMs);
      await bench.quiet();

      await first.release();

      expect(await soon(bench, c.tryAcquire(key), ttlMs / 2)).toBeDefined();
    },
  },
  {
    name: "an aborted waiter is rejected at once with `aborted` and the reason of the signal",
    async run({ bench, ttlMs, a, b }) {
      await a.acquire(key);
      const stop = new AbortController();
      const wait = watch(b.acquire(key, { signal: stop.signal }));
      await bench.quiet();

      stop.abort("shutting down");

      const error = await failure(bench, wait, ttlMs / 10);
      expect(error.code).toBe("aborted");
      expect(error.cause).toBe("shutting down");
    },
  },
  {
    name: "an aborted waiter leaves no ghost, and those behind it keep their places",
    async run({ bench, ttlMs, a, b, c }) {
      const first = await a.acquire(key);
      const stop = new AbortController();
      const quitter = watch(b.acquire(key, { signal: stop.signal }));
      await bench.quiet();
      const next = watch(c.acquire(key));
      const last = watch(b.acquire(key));
      await bench.quiet();

      stop.abort();
      await bench.quiet();
      await first.release();

      expect(quitter.state).toBe("rejected");
      const served = await soon(bench, Promise.race([next.promise, last.promise]), ttlMs / 2);
      await served.release();
      await soon(bench, Promise.all([next.promise, last.promise]), ttlMs / 2);
    },
  },
  {
    name: "a caller whose signal is already aborted is rejected without a request",
    async run({ bench, ttlMs, a }) {
      const error = await failure(bench, a.acquire(key, { signal: AbortSignal.abort("no") }), ttlMs / 10);

      expect(error).toMatchObject({ code: "aborted", cause: "no" });
      expect(await a.tryAcquire(key)).toBeDefined();
    },
  },
  {
    name: "a thousand acquisitions with one signal leave no listener on it",
    async run({ bench, ttlMs, a }) {
      const { signal } = new AbortController();
      setMaxListeners(0, signal);
      const first = await a.acquire(key);

      const waits = times(500, () => watch(a.acquire(key, { waitMs: ttlMs / 4, signal })));
      await bench.advance(ttlMs / 2);
      await first.release();
      for (let i = 0; i < 500; i++) await (await a.acquire(keyOf("free", i % 7), { signal })).release();

      expect(waits.every(({ state }) => state === "rejected")).toBe(true);
      expect(getEventListeners(signal, "abort")).toHaveLength(0);
    },
  },
  {
    name: "waiting costs hardly any requests, however many wait",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      await a.acquire(key);
      const waits = times(20, () => watch(b.acquire(key)));
      await bench.quiet();
      const before = bench.requests(b);

      await bench.advance(3 * ttlMs);

      expect(waits.every(({ state }) => state === "pending")).toBe(true);
      expect(bench.requests(b) - before).toBeLessThanOrEqual((3 * ttlMs) / 600);
    },
  },
  {
    name: "a hand-over needs no time and costs those further behind nothing",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b, c }) {
      const others = [c, await bench.client()];
      const first = await a.acquire(key);
      const next = watch(b.acquire(key));
      await bench.quiet();
      for (const locks of others) watch(locks.acquire(key));
      await bench.quiet();
      const before = others.map((locks) => bench.requests(locks));

      await first.release();
      await soon(bench, next, ttlMs / 20);

      expect(others.map((locks) => bench.requests(locks))).toEqual(before);
    },
  },
  {
    name: "a crashed waiter is skipped",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b, c }) {
      const first = await a.acquire(key);
      watch(b.acquire(key));
      await bench.quiet();
      const behind = watch(c.acquire(key));
      await bench.quiet();

      bench.vanish(b);
      await first.release();

      (await soon(bench, behind, 2 * ttlMs + 6_000)).assertHeld();
    },
  },
  {
    name: "a waiter that gets no push is served nevertheless",
    needs: ["processes", "network", "deafness"],
    async run({ bench, a, b }) {
      const first = await a.acquire(key);
      const wait = watch(b.acquire(key));
      await bench.quiet();

      bench.deafen(b);
      await first.release();

      (await soon(bench, wait, 20_000)).assertHeld();
    },
  },
  {
    name: "a client that gets no push takes no lock that is held",
    needs: ["processes", "network", "deafness"],
    async run({ bench, ttlMs, a, b }) {
      await (await b.acquire(key)).release();
      bench.deafen(b);
      const lease = await a.acquire(key);

      const wait = watch(b.acquire(key, { waitMs: 4 * ttlMs }));
      await bench.advance(3 * ttlMs);

      lease.assertHeld();
      expect(wait.state).toBe("pending");
    },
  },
];

const holding: readonly LockCase[] = [
  {
    name: "a lock held for longer than its ttl stays held, also with waiters",
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);
      const wait = watch(b.acquire(key));

      await bench.advance(3 * ttlMs);

      lease.assertHeld();
      expect(lease.signal.aborted).toBe(false);
      expect(wait.state).toBe("pending");
      expect(await lease.release()).toEqual({ released: true });
    },
  },
  {
    name: "a lease is renewed three or four times in its ttl",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      await a.acquire(key);
      const before = bench.requests(a);

      await bench.advance(3 * ttlMs);

      const renewals = bench.requests(a) - before;
      expect(renewals).toBeGreaterThanOrEqual(8);
      expect(renewals).toBeLessThanOrEqual(13);
    },
  },
  {
    name: "renewals of many locks travel together",
    needs: ["network", "batching"],
    async run({ bench, ttlMs, a }) {
      await Promise.all(times(50, (i) => a.acquire(keyOf("many", i))));
      const before = bench.requests(a);

      await bench.advance(2 * ttlMs);

      expect(a.load().held).toBe(50);
      expect(bench.requests(a) - before).toBeLessThanOrEqual(20);
    },
  },
  {
    name: "remainingMs falls with time, rises with a renewal and never promises more than the ttl",
    needs: ["processes"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);

      const seen: number[] = [];
      for (let i = 0; i < 20; i++) {
        seen.push(lease.remainingMs());
        await bench.advance(ttlMs / 20);
      }

      const steps = seen.slice(1).map((ms, i) => ms - (seen[i] as number));
      expect(Math.max(...seen)).toBeLessThan(ttlMs);
      expect(steps.filter((step) => step < 0).length).toBeGreaterThan(10);
      expect(steps.filter((step) => step > 0).length).toBeGreaterThanOrEqual(2);
    },
  },
  {
    name: "assertHeld throws `lost` when less time is left than is asked for",
    async run({ ttlMs, a }) {
      const lease = await a.acquire(key, { maxHoldMs: ttlMs });

      lease.assertHeld(ttlMs / 4);

      expect(lost(() => lease.assertHeld(2 * ttlMs))).toBe(true);
    },
  },
  {
    name: "the signal aborts before another caller is granted, without any response of the backend",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);
      const happened: string[] = [];
      lease.signal.addEventListener("abort", () => happened.push("aborted"));
      const next = watch(b.acquire(key).finally(() => happened.push("granted")));

      bench.sever(a);
      await soon(bench, next, 3 * ttlMs);

      expect(happened).toEqual(["aborted", "granted"]);
      expect(lease.signal.reason).toMatchObject({ code: "lost" });
    },
  },
  {
    name: "a lease that cannot be renewed has ended for its holder, too",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);

      bench.sever(a);
      await bench.advance(1.1 * ttlMs);

      expect(lease.remainingMs()).toBeLessThanOrEqual(0);
      expect(lost(() => lease.assertHeld())).toBe(true);
    },
  },
  {
    name: "after an event loop blocked for longer than the lease, assertHeld throws before anything else runs",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);

      bench.pause(a);
      await bench.advance(1.5 * ttlMs);

      expect(lost(() => lease.assertHeld())).toBe(true);
      expect(lease.signal.aborted).toBe(true);
    },
  },
  {
    name: "renewal errors are retried until the deadline, and reported",
    needs: ["network"],
    async run({ bench, ttlMs }) {
      const failed: string[] = [];
      const locks = await bench.client({ events: { renewalFailed: ({ holder }) => failed.push(holder) } });
      const lease = await locks.acquire(key);

      await bench.refuse(locks);
      await bench.advance(0.4 * ttlMs);
      bench.heal(locks);
      await bench.advance(2 * ttlMs);

      expect(failed).toContain(lease.holder);
      lease.assertHeld();
    },
  },
  {
    name: "a renewal whose response is lost is retried",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);

      bench.loseNextReply(a);
      await bench.advance(2 * ttlMs);

      lease.assertHeld();
      expect(await soon(bench, lease.release(), ttlMs)).toEqual({ released: true });
    },
  },
  {
    name: "a renewal that returns `lost` ends the lease at once, and names the holder",
    needs: ["processes", "records"],
    async run({ bench, ttlMs, a, b }) {
      const reported: CoordinationError[] = [];
      const lease = await a.acquire(key);
      lease.signal.addEventListener("abort", () => reported.push(lease.signal.reason));

      await bench.deleteStored(key);
      await soon(bench, b.acquire(key, { waitMs: ttlMs / 4 }), ttlMs / 4);
      await bench.advance(0.45 * ttlMs);

      expect(reported).toMatchObject([{ code: "lost", message: expect.stringContaining("test/pod/2") }]);
    },
  },
  {
    name: "a deleted lock is lost, and not silently created again",
    needs: ["network", "records"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);

      await bench.deleteStored(key);
      await bench.advance(0.6 * ttlMs);

      expect(lost(() => lease.assertHeld())).toBe(true);
      expect(await bench.holderOf(key)).toBeUndefined();
    },
  },
  {
    name: "maxHoldMs ends the lease of work that hangs, not earlier, and the next is served",
    async run({ bench, ttlMs, a, b }) {
      const hung = await a.acquire(key, { maxHoldMs: 2 * ttlMs });
      const next = watch(b.acquire(key));

      await bench.advance(1.8 * ttlMs);
      expect(hung.signal.aborted).toBe(false);
      await bench.advance(0.4 * ttlMs);
      expect(hung.signal.reason).toMatchObject({ code: "lost" });

      (await soon(bench, next, 2 * ttlMs)).assertHeld();
    },
  },
  {
    name: "run() holds the lock while its work runs and returns its result",
    async run({ bench, ttlMs, a, b }) {
      const seen = await a.run(key, async () => [await b.tryAcquire(key), "done"]);

      expect(seen).toEqual([undefined, "done"]);
      expect(await soon(bench, b.acquire(key), ttlMs)).toBeDefined();
    },
  },
  {
    name: "an exception in run() reaches the caller, and the lock is released",
    async run({ bench, ttlMs, a, b }) {
      const broken = new Error("no such deployment");

      const failed = a.run(key, () => Promise.reject(broken));

      await expect(failed).rejects.toBe(broken);
      expect(await soon(bench, b.acquire(key), ttlMs)).toBeDefined();
    },
  },
  {
    name: "run() rejects with `lost` when the lease ended first, although the work resolved",
    async run({ bench, ttlMs, a }) {
      let finish = () => {};
      const work = new Promise<void>((resolve) => {
        finish = resolve;
      });

      const run = watch(a.run(key, () => work, { maxHoldMs: ttlMs }));
      await bench.advance(1.5 * ttlMs);
      finish();

      expect((await failure(bench, run, ttlMs)).code).toBe("lost");
    },
  },
  {
    name: "a crashed holder is replaced within about its ttl",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);
      const next = watch(b.acquire(key));
      await bench.quiet();

      bench.vanish(a);
      await bench.advance(0.6 * ttlMs);
      expect(next.state).toBe("pending");

      expect((await soon(bench, next, ttlMs)).fence).toBeGreaterThan(first.fence);
    },
  },
  {
    name: "a holder that was paused for longer than its lease gets `lost`, and does not affect its successor",
    needs: ["processes", "records"],
    async run({ bench, ttlMs, a, b }) {
      const stopped = await a.acquire(key);

      bench.pause(a);
      const successor = await soon(bench, b.acquire(key), 2 * ttlMs);
      bench.resume(a);
      await bench.advance(ttlMs / 2);

      expect(stopped.signal.aborted).toBe(true);
      expect(await stopped.release()).toEqual({ released: false, reason: "lost" });
      successor.assertHeld();
      expect(await bench.holderOf(key)).toBe(successor.holder);
    },
  },
  {
    name: "a clock an hour ahead or behind takes no lock that is held",
    needs: ["processes"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);
      const others = [await bench.client({ skewMs: hour }), await bench.client({ skewMs: -hour })];

      const waits = others.map((locks) => watch(locks.acquire(key)));
      await bench.advance(2 * ttlMs);

      lease.assertHeld();
      expect(waits.map(({ state }) => state)).toEqual(["pending", "pending"]);
    },
  },
  {
    name: "a crashed holder whose clock was an hour ahead is replaced within about its ttl",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, b }) {
      const ahead = await bench.client({ skewMs: hour });
      await ahead.acquire(key);
      const next = watch(b.acquire(key));
      await bench.quiet();

      bench.vanish(ahead);

      (await soon(bench, next, 1.6 * ttlMs)).assertHeld();
    },
  },
  {
    name: "a record without times does not block callers forever",
    needs: ["damage"],
    async run({ bench, a }) {
      await bench.damage(key);

      const lease = await soon(bench, a.acquire(key), 60_000);

      lease.assertHeld();
    },
  },
  {
    name: "the lock of another key under the same name is a `collision`",
    needs: ["records"],
    async run({ bench, ttlMs, a }) {
      await bench.occupy(key);

      const error = await failure(bench, a.acquire(key), ttlMs);

      expect(error.code).toBe("collision");
      expect(error.message).toContain(key);
    },
  },
];

const fences: readonly LockCase[] = [
  {
    name: "each grant has a larger fence than the one before",
    async run({ bench, ttlMs, a, b }) {
      const seen: bigint[] = [];
      for (let i = 0; i < 10; i++) {
        const lease = await soon(bench, (i % 3 ? a : b).acquire(key), ttlMs);
        seen.push(lease.fence);
        await lease.release();
      }

      expect(seen).toEqual(rising(seen));
    },
  },
  {
    name: "fences keep rising after all clients were restarted",
    async run({ bench, a, b, c }) {
      const seen: bigint[] = [];
      for (let i = 0; i < 5; i++) {
        const lease = await a.acquire(key);
        seen.push(lease.fence);
        await lease.release();
      }

      for (const locks of new Set([a, b, c])) await locks.close();
      await bench.advance(5);
      const after = await bench.client();
      seen.push((await after.acquire(key)).fence);

      expect(seen).toEqual(rising(seen));
    },
  },
  {
    name: "fences keep rising after the record was deleted",
    needs: ["processes", "records"],
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);

      await bench.deleteStored(key);
      const next = await soon(bench, b.acquire(key, { waitMs: ttlMs }), ttlMs);

      expect(next.fence).toBeGreaterThan(lease.fence);
    },
  },
  {
    name: "a lock taken over from a holder cut off has a larger fence",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);

      bench.sever(a);
      const next = await soon(bench, b.acquire(key), 2 * ttlMs);

      expect(next.fence).toBeGreaterThan(lease.fence);
    },
  },
  {
    name: "a cohort passes the lock on inside the process up to its size, each time with a new fence, then serves other processes",
    needs: ["processes", "network", "cohort"],
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key, { cohort: 3 });
      const served: string[] = [];
      const seen = [first.fence];
      const wait = (locks: Locks, name: string) => {
        const work = async ({ fence }: Lease) => {
          served.push(name);
          seen.push(fence);
        };
        return locks.run(key, work, { cohort: 3 });
      };

      const runs = [wait(b, "b")];
      await bench.quiet();
      runs.push(...["a2", "a3", "a4"].map((name) => wait(a, name)));
      await first.release();
      await soon(bench, Promise.all(runs), ttlMs);

      expect(served).toEqual(["a2", "a3", "b", "a4"]);
      expect(seen).toEqual(rising(seen));
    },
  },
];

const faults: readonly LockCase[] = [
  {
    name: "an outage is an error `unavailable`, not a hang, and grants nothing",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      await bench.refuse(a);
      const waits = times(3, () => watch(a.acquire(key)));
      const errors = [];
      for (const wait of waits) errors.push(await failure(bench, wait, ttlMs + bench.timeoutMs));

      expect(errors.map(({ code }) => code)).toEqual(["unavailable", "unavailable", "unavailable"]);
    },
  },
  {
    name: "a backend that stops responding is an error `unavailable`, not a hang",
    needs: ["network"],
    async run({ bench, a }) {
      bench.sever(a);
      const error = await failure(bench, a.acquire(key), 4 * bench.timeoutMs);

      expect(error.code).toBe("unavailable");
    },
  },
  {
    name: "a waiter outlives a short outage and keeps waiting",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      const first = await a.acquire(key);
      const wait = watch(b.acquire(key));
      await bench.quiet();

      await bench.refuse(b);
      await bench.advance(100);
      bench.heal(b);
      await first.release();

      (await soon(bench, wait, ttlMs + 5_000)).assertHeld();
    },
  },
  {
    name: "after an outage the same client is served again",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      await bench.refuse(a);
      await failure(bench, a.tryAcquire(key), 2 * ttlMs);

      bench.heal(a);
      await bench.advance(ttlMs);

      (await soon(bench, a.acquire(key), ttlMs)).assertHeld();
    },
  },
  {
    name: "a response slower than the ttl is not returned as a lease",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      bench.slowReplies(a, 1.3 * ttlMs);
      const slow = watch(a.acquire(key));
      await bench.advance(ttlMs / 20);
      const next = watch(b.acquire(key));
      await bench.advance(1.5 * ttlMs);

      expect([slow.state, next.state]).toEqual(["pending", "fulfilled"]);
    },
  },
  {
    name: "a response to tryAcquire after the end of its lease is an error, and leaves no holder behind",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      bench.slowReplies(a, 0.96 * ttlMs);
      const answer = watch(a.tryAcquire(key));
      await bench.advance(1.1 * ttlMs);

      expect(answer.error).toMatchObject({ code: expect.stringMatching(/^(unavailable|timeout)$/) });
      bench.heal(a);
      (await soon(bench, b.acquire(key), ttlMs / 2)).assertHeld();
    },
  },
  {
    name: "a waiter whose grant came too late bids again and gets a valid lease",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      bench.slowReplies(a, 1.3 * ttlMs);
      const wait = watch(a.acquire(key));
      await bench.advance(ttlMs);
      bench.heal(a);

      const lease = await soon(bench, wait, 4 * ttlMs);
      expect(lease.remainingMs()).toBeGreaterThan(ttlMs / 2);
    },
  },
  {
    name: "a lease lasts from its request on, not from the response",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      bench.slowReplies(a, ttlMs / 3);
      const lease = await soon(bench, a.acquire(key), 0.6 * ttlMs);

      expect(lease.remainingMs()).toBeLessThan(0.7 * ttlMs);
    },
  },
  {
    name: "a lost response to acquire leaves no unknown holder: the caller gets the lock, and can release it",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      bench.loseNextReply(a);
      const lease = await soon(bench, a.acquire(key), ttlMs);
      lease.assertHeld();
      await lease.release();

      expect(await soon(bench, b.tryAcquire(key), ttlMs / 2)).toBeDefined();
    },
  },
  {
    name: "a lost response to tryAcquire leaves no holder behind: the lock is free soon after",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      bench.loseNextReply(a);
      const tried = watch(a.tryAcquire(key));
      await soon(bench, tried.settled, ttlMs);
      await tried.value?.release();

      (await soon(bench, b.acquire(key), 0.7 * ttlMs)).assertHeld();
    },
  },
  {
    name: "a refusal names the missing verb, comes at once and stays",
    needs: ["network", "permissions"],
    async run({ bench, a }) {
      bench.forbid("create");
      await bench.settle();
      const before = bench.requests(a);

      for (let i = 0; i < 2; i++) {
        const error = await failure(bench, a.acquire(key), 1);
        expect(error.code).toBe("forbidden");
        expect(error.message).toContain("cannot create");
      }

      expect(bench.requests(a) - before).toBeLessThanOrEqual(4);
    },
  },
];

const releasing: readonly LockCase[] = [
  {
    name: "release frees the lock and returns released",
    async run({ a, b }) {
      const lease = await a.acquire(key);

      const outcome = await lease.release();

      expect(outcome).toEqual({ released: true });
      expect(lost(() => lease.assertHeld())).toBe(true);
      expect(await b.tryAcquire(key)).toBeDefined();
    },
  },
  {
    name: "release repeats its outcome and changes nothing the second time",
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);
      await lease.release();
      const successor = await soon(bench, b.acquire(key), ttlMs);

      const again = await lease.release();

      expect(again).toEqual({ released: true });
      successor.assertHeld();
      expect(await a.tryAcquire(key)).toBeUndefined();
    },
  },
  {
    name: "a released lease never aborts its signal",
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key, { maxHoldMs: ttlMs });
      const { signal } = lease;

      await lease.release();
      await bench.advance(2 * ttlMs);

      expect(signal.aborted).toBe(false);
    },
  },
  {
    name: "`await using` releases the lock",
    async run({ bench, ttlMs, a, b }) {
      {
        await using lease = await a.acquire(key);
        lease.assertHeld();
      }

      expect(await soon(bench, b.acquire(key), ttlMs)).toBeDefined();
    },
  },
  {
    name: "release works although the caller's signal is aborted",
    async run({ bench, ttlMs, a, b }) {
      const request = new AbortController();
      const lease = await a.acquire(key, { signal: request.signal });

      request.abort();

      lease.assertHeld();
      expect(await lease.release()).toEqual({ released: true });
      expect(await soon(bench, b.acquire(key), ttlMs)).toBeDefined();
    },
  },
  {
    name: "release returns `lost` at once when the lock was taken over, and does not touch the successor",
    needs: ["processes", "network", "records"],
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);
      await bench.deleteStored(key);
      const successor = await soon(bench, b.acquire(key, { waitMs: ttlMs / 4 }), ttlMs / 4);
      const before = bench.requests(a);

      const outcome = await soon(bench, lease.release(), ttlMs / 10);

      expect(outcome).toEqual({ released: false, reason: "lost" });
      expect(bench.requests(a) - before).toBeLessThanOrEqual(2);
      successor.assertHeld();
      expect(await bench.holderOf(key)).toBe(successor.holder);
    },
  },
  {
    name: "release returns `lost` after the lease has ended",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);
      bench.pause(a);
      await bench.advance(1.5 * ttlMs);
      bench.resume(a);

      expect(await soon(bench, lease.release(), ttlMs)).toEqual({ released: false, reason: "lost" });
    },
  },
  {
    name: "a renewal under way does not disturb a release",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);
      const { signal } = lease;
      bench.slowReplies(a, ttlMs / 10);
      const before = bench.requests(a);
      for (let i = 0; i < 25 && bench.requests(a) === before; i++) await bench.advance(ttlMs / 50);

      const outcome = await soon(bench, lease.release(), 0.7 * ttlMs);
      await bench.advance(ttlMs / 2);

      expect(bench.requests(a) - before).toBeGreaterThan(1);
      expect(outcome).toEqual({ released: true });
      expect(signal.aborted).toBe(false);
      expect(await b.tryAcquire(key)).toBeDefined();
    },
  },
  {
    name: "a lost response to release still returns released",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);

      bench.loseNextReply(a);
      const outcome = await soon(bench, lease.release(), ttlMs);

      expect(outcome).toEqual({ released: true });
      expect(await b.tryAcquire(key)).toBeDefined();
    },
  },
  {
    name: "a release without a response returns `unknown`, and the lock expires within the ttl",
    needs: ["processes", "network"],
    async run({ bench, ttlMs, a, b }) {
      const lease = await a.acquire(key);
      const next = watch(b.acquire(key));
      await bench.quiet();

      bench.sever(a);
      const outcome = watch(lease.release());

      (await soon(bench, next, 1.6 * ttlMs)).assertHeld();
      expect(await soon(bench, outcome, ttlMs + bench.timeoutMs)).toEqual({ released: false, reason: "unknown" });
    },
  },
  {
    name: "an uncontended lock costs two requests",
    needs: ["network"],
    async run({ bench, a }) {
      await bench.settle();
      const before = bench.requests(a);

      for (let i = 0; i < 3; i++) await (await a.acquire(key)).release();

      expect(bench.requests(a) - before).toBe(6);
    },
  },
  {
    name: "close() ends and releases all leases and rejects all waiters",
    async run({ bench, ttlMs, a, b }) {
      const held = await a.acquire(key);
      const wait = watch(a.acquire(key));

      await a.close();

      expect(held.signal.reason).toMatchObject({ code: "closed" });
      expect((await failure(bench, wait, ttlMs)).code).toBe("closed");
      if (b !== a) expect(await b.tryAcquire(key)).toBeDefined();
    },
  },
  {
    name: "a client that closes leaves no bid in a queue",
    needs: ["processes"],
    async run({ bench, ttlMs, a, b, c }) {
      const first = await a.acquire(key);
      watch(b.acquire(key));
      await bench.quiet();

      await b.close();
      await first.release();

      expect(await soon(bench, c.tryAcquire(key), ttlMs / 2)).toBeDefined();
    },
  },
  {
    name: "close() resolves although the backend does not respond",
    needs: ["network"],
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);

      bench.sever(a);
      await soon(bench, a.close(), ttlMs + 3 * bench.timeoutMs);

      expect(lease.signal.aborted).toBe(true);
    },
  },
  {
    name: "nothing is granted after close()",
    async run({ bench, ttlMs, a }) {
      await a.close();

      expect((await failure(bench, a.acquire(key), ttlMs)).code).toBe("closed");
      expect((await failure(bench, a.tryAcquire(key), ttlMs)).code).toBe("closed");
    },
  },
];

const outcomeCases: readonly LockCase[] = [
  {
    name: "contention, timeout, abort and loss are distinguished",
    async run({ bench, ttlMs }) {
      const reported: string[] = [];
      const locks = await bench.client({
        events: {
          acquired: () => reported.push("acquired"),
          failed: (_key, reason) => reported.push(reason),
          lost: (_lease, { code }) => reported.push(code),
          released: (_lease, { released }) => reported.push(`released ${released}`),
        },
      });
      const first = await locks.acquire(key);

      await locks.tryAcquire(key);
      await failure(bench, locks.acquire(key, { waitMs: ttlMs / 4 }), ttlMs);
      await failure(bench, locks.acquire(key, { signal: AbortSignal.abort() }), ttlMs);
      await first.release();
      await locks.acquire(key, { maxHoldMs: ttlMs });
      await bench.advance(1.2 * ttlMs);

      expect(reported).toEqual(["acquired", "contention", "timeout", "aborted", "released true", "acquired", "lost"]);
    },
  },
  {
    name: "load() leaves out a standby, which waits until the holder ends",
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);
      const wait = watch(a.acquire(key, { isStandby: true, waitMs: 10 * ttlMs }));
      await bench.advance(2 * ttlMs);

      expect(a.load()).toEqual({ held: 1, waiting: 0, oldestWaitMs: 0 });

      await lease.release();
      await soon(bench, wait, ttlMs);
      expect(a.load()).toEqual({ held: 1, waiting: 0, oldestWaitMs: 0 });
    },
  },
  {
    name: "load() counts leases and waiters, and the longest wait",
    async run({ bench, ttlMs, a }) {
      const lease = await a.acquire(key);
      await a.acquire(keyOf("other"));
      const wait = watch(a.acquire(key));
      await bench.advance(ttlMs / 2);

      const busy = a.load();
      await lease.release();
      await (await soon(bench, wait, ttlMs)).release();
      const calm = a.load();

      expect(busy).toMatchObject({ held: 2, waiting: 1 });
      expect(busy.oldestWaitMs).toBeGreaterThan(ttlMs / 3);
      expect(calm).toEqual({ held: 1, waiting: 0, oldestWaitMs: 0 });
    },
  },
  {
    name: "an invalid ttl, wait, hold or cohort is a TypeError with the allowed range",
    async run({ bench, a }) {
      const nonsense = [
        [{ ttlMs: 0 }, /ttlMs must be between 500 .* and \d+; got 0/],
        [{ ttlMs: Number.NaN }, /ttlMs must be between/],
        [{ ttlMs: 1e12 }, /ttlMs must be between/],
        [{ waitMs: -1 }, /waitMs must be a finite number, 0 or more; got -1/],
        [{ waitMs: Number.POSITIVE_INFINITY }, /waitMs must be a finite number/],
        [{ maxHoldMs: 0 }, /maxHoldMs must be more than 0; got 0/],
        [{ cohort: 0 }, /cohort must be a whole number from 1 to 1000; got 0/],
        [{ cohort: 1.5 }, /cohort must be a whole number/],
      ] as const;

      for (const [options, message] of nonsense) {
        const refused = watch(a.acquire(key, options));
        await bench.settle();

        expect(refused.error).toBeInstanceOf(TypeError);
        expect(String(refused.error)).toMatch(message);
      }
      expect(await a.tryAcquire(key)).toBeDefined();
    },
  },
];

export const lockCases: readonly LockCase[] = [
  ...takingTurns,
  ...waiting,
  ...holding,
  ...fences,
  ...faults,
  ...releasing,
  ...outcomeCases,
];

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** Takes and gives back other keys, a hundred at a time. */
async function comeAndGo(locks: Locks, count: number) {
  for (let from = 0; from < count; from += 100) {
    const some = times(100, async (i) => {
      const lease = await locks.acquire(keyOf("passing", from + i));
      await lease.release();
    });
    await Promise.all(some);
  }
}

function rising(fences: readonly bigint[]): bigint[] {
  return [...new Set(fences)].sort((a, b) => (a < b ? -1 : 1));
}

function lost(act: () => void): boolean {
  try {
    act();
    return false;
  } catch (error) {
    return error instanceof CoordinationError && error.code === "lost";
  }
}

/** The state of a promise so far. */
interface Watched<T> {
  readonly promise: Promise<T>;
  /** Resolves when the promise is settled, either way. */
  readonly settled: Promise<void>;
  state: "pending" | "fulfilled" | "rejected";
  value?: T;
  error?: unknown;
}

function watch<T>(promise: Promise<T>): Watched<T> {
  const settled = promise.then(
    (value) => void Object.assign(watched, { state: "fulfilled", value }),
    (error) => void Object.assign(watched, { state: "rejected", error }),
  );
  const watched: Watched<T> = { promise, settled, state: "pending" };
  return watched;
}

/** The promise's value, if it has one within so much time. */
async function soon<T>(bench: LockBench, what: Promise<T> | Watched<T>, withinMs: number): Promise<T> {
  const watched = what instanceof Promise ? watch(what) : what;
  await bench.settle();
  for (let step = 0; step < 40 && watched.state === "pending"; step++) await bench.advance(withinMs / 40);
  if (watched.state === "pending") throw new Error(`not settled within ${withinMs} ms`);
  return watched.promise;
}

async function failure(bench: LockBench, what: Promise<unknown> | Watched<unknown>, withinMs: number) {
  const error = await soon(bench, what, withinMs).then(
    () => new Error("it did not fail"),
    (error: unknown) => error,
  );
  if (!(error instanceof CoordinationError)) throw error;
  return error;
}
