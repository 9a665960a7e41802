import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Claims, NewClaim } from "../../src/coordination/claims/claims.ts";
import { type Key, keyOf } from "../../src/coordination/key.ts";
import { kubernetesClaims } from "../../src/coordination/kubernetes/kubernetes-claims.ts";
import { kubernetesLocks } from "../../src/coordination/kubernetes/kubernetes-locks.ts";
import { kubernetesWatermarks } from "../../src/coordination/kubernetes/kubernetes-watermarks.ts";
import type { Locks } from "../../src/coordination/locks/locks.ts";
import { memoryClaims } from "../../src/coordination/memory/memory-claims.ts";
import { memoryLocks } from "../../src/coordination/memory/memory-locks.ts";
import { memoryWatermarks } from "../../src/coordination/memory/memory-watermarks.ts";
import { RedisConnection } from "../../src/coordination/redis/connection.ts";
import { redisClaims } from "../../src/coordination/redis/redis-claims.ts";
import { redisLocks } from "../../src/coordination/redis/redis-locks.ts";
import { redisWatermarks } from "../../src/coordination/redis/redis-watermarks.ts";
import { openWatermark, type WatermarkStore } from "../../src/coordination/watermarks/watermarks.ts";
import { type Clock, sleep, systemClock, systemRandom } from "../../src/time/index.ts";
import { ManualClock, settle } from "../doubles/manual-clock.ts";
import { ProcessClock } from "../doubles/process-clock.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { type RedisService, startRedis } from "../services/redis.ts";

/** What a service keeps, and the two ways it can end. */
interface Service {
  readonly locks: Locks;
  readonly claims: Claims;
  readonly watermarks: WatermarkStore;
  stop(): Promise<void>;
  crash(): Promise<void>;
}

/** A place where services run one after the other. */
interface Place {
  readonly clock: Clock;
  start(): Promise<Service>;
  pass(ms: number): Promise<void>;
}

const random = systemRandom();
const key = keyOf("repo", 42);
const ttlMs = 1_000;

let redis: RedisService;
beforeAll(async () => {
  // A Redis that forgets makes locks wait until old leases have run out; here it is the service that restarts.
  redis = await startRedis({ persistence: "always" });
});
afterAll(() => redis.stop());

const places = { memory: memoryPlace, redis: redisPlace, kubernetes: kubernetesPlace };
const shared = ["redis", "kubernetes"] as const;

describe("a service that restarts with memory", () => {
  it("has lost its locks, claims and watermarks, as its guarantee states", async () => {
    const place = memoryPlace();
    const before = await place.start();
    const lock = await before.locks.acquire(key, { ttlMs });
    const [done, unfinished] = [
      await fresh(before.claims, keyOf("done")),
      await fresh(before.claims, keyOf("working")),
    ];
    await done.complete("merged");
    await open(before, "12:00");
    await before.crash();
    await place.pass(10);

    const after = await place.start();

    const { locks, claims, watermarks } = after;
    expect([locks.guarantee, claims.guarantee, watermarks.guarantee]).toEqual(["process", "process", "process"]);
    expect((await locks.tryAcquire(key, { ttlMs }))?.fence).toBeGreaterThan(lock.fence);
    expect((await fresh(claims, keyOf("done"))).fence).toBeGreaterThan(done.fence);
    expect((await fresh(claims, keyOf("working"))).fence).toBeGreaterThan(unfinished.fence);
    expect((await open(after, "15:00")).queryFrom()).toBe("2025-02-19T15:00:00.000Z");
    await after.stop();
  });
});

describe.each(shared)("a service that restarts with %s", (name) => {
  it("gets its lock at once if it stopped in order", async () => {
    const place = places[name]();
    const before = await place.start();
    const old = await before.locks.acquire(key, { ttlMs });
    await before.stop();

    const after = await place.start();
    const lease = await after.locks.tryAcquire(key, { ttlMs });

    expect(lease?.fence).toBeGreaterThan(old.fence);
    await after.stop();
  });

  it("finds the lock of a crashed holder held until its ttl: a connection that ends releases nothing", async () => {
    const place = places[name]();
    const before = await place.start();
    const old = await before.locks.acquire(key, { ttlMs });
    await before.crash();

    const after = await place.start();
    const atOnce = await after.locks.tryAcquire(key, { ttlMs });
    const lease = await within(place, after.locks.acquire(key, { ttlMs, waitMs: 4 * ttlMs }));

    expect(atOnce).toBeUndefined();
    expect(lease.fence).toBeGreaterThan(old.fence);
    expect(old.signal.aborted || old.remainingMs() <= 0).toBe(true);
    await after.stop();
  });

  it("still has the finished claims", async () => {
    const place = places[name]();
    const before = await place.start();
    await (await fresh(before.claims, key)).complete("merged");
    await before.crash();

    const after = await place.start();

    expect(await after.claims.claim(key)).toMatchObject({ state: "done", result: "merged" });
    await after.stop();
  });

  it("repeats work that was unfinished at the crash, after the lease of the claim", async () => {
    const place = places[name]();
    const before = await place.start();
    const old = await fresh(before.claims, key);
    await before.crash();

    const after = await place.start();
    const atOnce = await after.claims.claim(key, { leaseMs: ttlMs });
    await place.pass(ttlMs * 1.1);
    const again = await fresh(after.claims, key);

    expect(atOnce.state).toBe("in-flight");
    expect(again.fence).toBeGreaterThan(old.fence);
    await after.stop();
  });

  it("repeats at once work that was unfinished at a graceful stop", async () => {
    const place = places[name]();
    const before = await place.start();
    await fresh(before.claims, key);
    await before.stop();

    const after = await place.start();

    expect((await after.claims.claim(key)).state).toBe("new");
    await after.stop();
  });

  it("polls from where it was, not from now", async () => {
    const place = places[name]();
    const before = await place.start();
    await open(before, "12:00");
    await before.crash();

    const after = await place.start();

    expect((await open(after, "15:00")).queryFrom()).toBe("2025-02-19T12:00:00.000Z");
    await after.stop();
  });
});

function memoryPlace(): Place {
  const clock = new ManualClock();
  return {
    ...manually(clock),
    async start() {
      const own = new ProcessClock(clock);
      const options = { clock: own, random };
      const [locks, claims] = [memoryLocks(options), memoryClaims(options)];
      return service({ locks, claims, watermarks: memoryWatermarks() }, own);
    },
  };
}

function kubernetesPlace(): Place {
  const clock = new ManualClock();
  const cluster = testCluster({ clock, random, namespaces: ["interlock"] });
  return {
    ...manually(clock),
    async start() {
      const own = new ProcessClock(clock);
      const options = { clock: own, random, client: cluster.client(), namespace: "interlock" };
      const locks = kubernetesLocks({ ...options, prefix: "agent-lock-" });
      return service({ locks, claims: kubernetesClaims(options), watermarks: kubernetesWatermarks(options) }, own);
    },
  };
}

function redisPlace(): Place {
  const clock = systemClock();
  const prefix = `${random.id()}:`;
  return {
    clock,
    pass: (ms) => sleep(clock, ms),
    async start() {
      const own = new ProcessClock(clock);
      const connection = new RedisConnection({ url: redis.url, clock: systemClock(), random });
      const options = { clock: own, random, connection, prefix };
      const kept = { locks: redisLocks(options), claims: redisClaims(options), watermarks: redisWatermarks(options) };
      await connection.connect();
      return service(kept, own, () => connection.close());
    },
  };
}

function manually(clock: ManualClock): Pick<Place, "clock" | "pass"> {
  return {
    clock,
    async pass(ms) {
      await clock.advance(ms);
      await settle();
    },
  };
}

function service(kept: Omit<Service, "stop" | "crash">, clock: ProcessClock, disconnect = async () => {}): Service {
  return {
    ...kept,
    async stop() {
      await kept.claims.close();
      await kept.locks.close();
      await disconnect();
    },
    async crash() {
      clock.crash();
      await disconnect();
    },
  };
}

async function fresh(claims: Claims, of: Key): Promise<NewClaim> {
  const claim = await claims.claim(of, { leaseMs: ttlMs });
  if (claim.state !== "new") throw new Error(`${of} is ${claim.state}`);
  return claim;
}

function open({ watermarks }: Service, time: string) {
  const serverDate = new Date(`2025-02-19T${time}:00Z`);
  return openWatermark(watermarks, key, { from: "now", serverDate, overlapMs: 0 });
}

/** Waits for `promise` while time passes. */
async function within<T>({ pass }: Place, promise: Promise<T>): Promise<T> {
  let over = false;
  const done = promise.finally(() => {
    over = true;
  });
  for (let i = 0; i < 500 && !over; i++) await Promise.race([done, pass(20)]);
  return promise;
}
