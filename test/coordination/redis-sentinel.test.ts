import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keyOf, RedisConnection, redisLocks } from "../../src/coordination/index.ts";
import { sleep, systemClock, systemRandom } from "../../src/time/index.ts";
import { type RedisSentinels, startSentinels } from "../services/redis-sentinel.ts";

const key = keyOf("target", "node/worker-1");
const maxTtlMs = 6_000;
const clock = systemClock();
const random = systemRandom();

let sentinels: RedisSentinels;
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  sentinels = await startSentinels();
}, 60_000);

afterAll(async () => {
  for (const close of opened.reverse()) await close();
  await sentinels[Symbol.asyncDispose]();
});

describe("locks on a Redis with Sentinels", () => {
  it("are on the primary, and report that a failover may lose them", async () => {
    const { locks, connection } = await open();

    const lease = await acquired({ locks });

    expect(locks.guarantee).toBe("async-replicated");
    expect(String(await (await sentinels.primary()).command("DBSIZE"))).not.toBe("0");
    expect((await connection.explain()).join(" ")).toContain("min-replicas-to-write is 0");
    await lease.release();
  });

  it("are granted by the next primary only when every lease of the last one has run out, with larger fences", async () => {
    const holder = await open();
    const other = await open();
    const before = await acquired(holder);
    const former = await sentinels.primary();
    // The holder is gone as well: its lock is the only one that the new primary could grant too early.
    const heldUntil = clock.now() + before.remainingMs();
    await holder.connection.close();
    await former.kill();

    const after = await acquired(other);

    expect(clock.now()).toBeGreaterThanOrEqual(heldUntil);
    expect(after.fence).toBeGreaterThan(before.fence);
    expect(other.quarantined.length).toBeGreaterThan(0);
    await after.release();
    await former.start();
  }, 60_000);

  it("are kept by a holder that lives, through a failover", async () => {
    const holder = await open();
    const lease = await acquired(holder);
    const former = await sentinels.primary();
    // Replicated by now; otherwise the new primary would lack it, as `async-replicated` allows.
    await sleep(clock, 300);
    await former.kill();

    await sentinels.untilNot(former);
    while (!holder.connection.isUp) await sleep(clock, 20);

    expect(lease.signal.aborted).toBe(false);
    expect(await lease.release()).toEqual({ released: true });
    await former.start();
  }, 60_000);

  it("cannot be acquired while no Sentinel responds, and reject at once", async () => {
    const connection = new RedisConnection({ url: "redis+sentinel://127.0.0.1:1,127.0.0.1:2/main", clock, random });
    opened.push(() => connection.close());

    await expect(connection.connect()).rejects.toThrow("not enough Sentinels report where the primary is");
  });

  it("are not searched where a single Sentinel names the primary", async () => {
    const [first] = sentinels.sentinels;
    const one = new RedisConnection({ url: `redis+sentinel://127.0.0.1:${first?.port}/main`, clock, random });
    const outvoted = `redis+sentinel://127.0.0.1:${first?.port},127.0.0.1:1,127.0.0.1:2/main`;
    const few = new RedisConnection({ url: outvoted, clock, random });
    opened.push(
      () => one.close(),
      () => few.close(),
    );

    await one.connect();

    await expect(few.connect()).rejects.toThrow("not enough Sentinels report where the primary is");
  });

  it("cannot be acquired under a name that no Sentinel has", async () => {
    const url = sentinels.url.replace(/main$/, "other");
    const connection = new RedisConnection({ url, clock, random });
    opened.push(() => connection.close());

    await expect(connection.connect()).rejects.toThrow("has no primary named other");
  });

  // Last, because it locks the Sentinels for all clients without the password.
  it("ask Sentinels with their own password", async () => {
    for (const sentinel of sentinels.sentinels) {
      await sentinel.command("ACL", "SETUSER", "default", "resetpass", ">of-sentinels");
    }
    const without = new RedisConnection({ url: sentinels.url, clock, random });
    const withIt = new RedisConnection({ url: sentinels.url, clock, random, sentinelPassword: "of-sentinels" });
    opened.push(
      () => without.close(),
      () => withIt.close(),
    );

    await expect(without.connect()).rejects.toThrow("NOAUTH");
    await withIt.connect();

    expect(withIt.isUp).toBe(true);
  });
});

async function open() {
  const quarantined: number[] = [];
  const connection = new RedisConnection({ url: sentinels.url, clock, random, commandTimeoutMs: 1_000 });
  const locks = redisLocks({
    connection,
    clock,
    random,
    maxTtlMs: maxTtlMs,
    defaults: { ttlMs: maxTtlMs },
    quarantined: (ms) => quarantined.push(ms),
  });
  opened.push(
    () => connection.close(),
    () => locks.close(),
  );
  await connection.connect();
  return { connection, locks, quarantined };
}

/** As a caller does it that can wait: an outage is an error, and then it asks again. */
async function acquired({ locks }: { locks: ReturnType<typeof redisLocks> }) {
  while (true) {
    try {
      return await locks.acquire(key, { waitMs: 40_000 });
    } catch {
      await sleep(clock, 100);
    }
  }
}
