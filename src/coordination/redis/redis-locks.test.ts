import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { redisAbilities, redisLockBench } from "../../../test/coordination/redis-lock-bench.ts";
import { redisModelAbilities, redisModelLockBench } from "../../../test/coordination/redis-model-lock-bench.ts";
import { startRedis } from "../../../test/services/redis.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { type Key, keyHash, keyOf } from "../key.ts";
import { locksContract } from "../locks/locks.contract.ts";
import type { LockEvents, Locks } from "../locks/locks.ts";
import { RedisConnection } from "./connection.ts";
import { redisLocks } from "./redis-locks.ts";

type Server = Awaited<ReturnType<typeof startRedis>>;

let server: Server;
/** Cleanup functions for the end of all tests, run in reverse order. */
const opened: (() => Promise<void>)[] = [];

beforeAll(async () => {
  // A server that writes everything down needs no quarantine after its start.
  server = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
});

afterAll(async () => {
  for (const close of opened.reverse()) await close();
  await server.stop();
});

locksContract("Redis", () => redisLockBench(server), {
  abilities: redisAbilities,
  concurrent: true,
});
locksContract("a model of Redis", async () => redisModelLockBench(), { abilities: redisModelAbilities });

const key = keyOf("target", "a");
const youngServer = /Redis started \d+ s ago and may have forgotten locks that are still held; grants begin in \d+ s$/;

describe("a lock in Redis", { concurrent: true }, () => {
  it("is granted although the server has forgotten the script", async () => {
    const locks = await open(server);
    await server.command("SCRIPT", "FLUSH");

    const lease = await locks.acquire(key);

    expect(await lease.release()).toEqual({ released: true });
  });

  it("is refused in good time by a server that answers with errors, and is not asked for over and over", async () => {
    const full = await startRedis({ persistence: "always" });
    opened.push(() => full.stop());
    const random = systemRandom();
    const connection = new RedisConnection({ url: full.url, clock: systemClock(), random });
    opened.push(() => connection.close());
    const locks = redisLocks({ connection, clock: systemClock(), random });
    await connection.connect();
    await full.command("CONFIG", "SET", "maxmemory", "1");
    let calls = 0;
    const run = connection.run.bind(connection);
    connection.run = (...call) => {
      calls++;
      return run(...call);
    };

    await expect(locks.acquire(key, { waitMs: 5_000 })).rejects.toMatchObject({ code: "unavailable" });

    expect(calls).toBeLessThan(20);
  });

  it("is requested without queueing by a caller that does not wait", async () => {
    const [holder, rival] = [await open(server), await open(server)];
    const held = keyOf("target", "held");
    const lease = await holder.acquire(held);

    await expect(rival.acquire(held, { waitMs: 0 })).rejects.toMatchObject({ code: "timeout" });

    expect(await server.command("EXISTS", `own:{${keyHash(held)}}:q`)).toBe(0);
    await lease.release();
    (await rival.acquire(held, { waitMs: 0 })).assertHeld();
  });

  it("is not requested when the caller gives up before the request is sent", async () => {
    const connection = await connected(server);
    const locks = redisLocks({ connection, clock: systemClock(), random: systemRandom() });
    const run = vi.spyOn(connection, "run");
    const giveUp = new AbortController();

    const asked = locks.acquire(key, { signal: giveUp.signal });
    giveUp.abort();

    await expect(asked).rejects.toMatchObject({ code: "aborted" });
    expect(run).not.toHaveBeenCalled();
  });

  it("cannot be held for longer than a restarted server waits", async () => {
    const locks = await open(server, { maxTtlMs: 3_000 });

    await expect(locks.acquire(key, { ttlMs: 3_001 })).rejects.toThrow("and 3000; got 3001");
  });

  it("is not granted by a server that may have forgotten it, until it has expired", async () => {
    const forgetful = await startForgetful();
    const locks = await open(forgetful, { maxTtlMs: 3_000 });

    const tried = locks.tryAcquire(key, { ttlMs: 1_000 });
    const waiting = locks.acquire(keyOf("target", "b"), { ttlMs: 1_000, waitMs: 8_000 });

    await expect(tried).rejects.toMatchObject({ code: "unavailable", message: expect.stringMatching(youngServer) });
    (await waiting).assertHeld();
  });

  it("that times out reports when the server started and when grants begin", async () => {
    const locks = await open(await startForgetful(), { maxTtlMs: 60_000 });

    const waited = locks.acquire(key, { ttlMs: 1_000, waitMs: 500 });

    await expect(waited).rejects.toMatchObject({ code: "timeout", message: expect.stringMatching(youngServer) });
    await expect(waited).rejects.toThrow(/grants begin in (60|5\d) s$/);
  });

  it("does not count a young server as contention", async () => {
    const contended = vi.fn();
    const locks = await open(await startForgetful(), { maxTtlMs: 60_000, events: { contended } });

    await locks.acquire(key, { ttlMs: 1_000, waitMs: 500 }).catch(() => {});

    expect(contended).not.toHaveBeenCalled();
  });

  it("stays with its holder when the server has forgotten everything", async () => {
    const forgetful = await startForgetful();
    const [holder, rival] = [await open(forgetful, { maxTtlMs: 6_000 }), await open(forgetful, { maxTtlMs: 6_000 })];
    const lease = await holder.acquire(key, { ttlMs: 6_000, waitMs: 20_000 });

    await forgetful.restart();
    await untilRecorded(forgetful, key);

    lease.assertHeld();
    await vi.waitFor(async () => expect(await rival.tryAcquire(key)).toBeUndefined(), { timeout: 20_000 });
    expect(await lease.release()).toEqual({ released: true });
  });

  it("stays with its holder when its renewal is due before a server was checked for lost data", async () => {
    const forgetful = await startForgetful();
    const renewalFailed = vi.fn();
    let prepare = async () => {};
    const locks = await open(forgetful, { maxTtlMs: 6_000, prepare: () => prepare(), events: { renewalFailed } });
    const lease = await locks.acquire(key, { ttlMs: 6_000, waitMs: 20_000 });

    prepare = async () => {
      renewalFailed.mockClear();
      await vi.waitUntil(() => renewalFailed.mock.calls.length > 0, { timeout: 20_000 });
    };
    await forgetful.restart();
    await untilRecorded(forgetful, key);

    lease.assertHeld();
  });
});

describe("a connection to Redis", () => {
  it("is rejected when the server has no database of this number", async () => {
    const url = `${server.url}/99`;
    const connection = new RedisConnection({ url, clock: systemClock(), random: systemRandom() });
    opened.push(() => connection.close());

    await expect(connection.connect()).rejects.toThrow("DB index is out of range");
  });

  it("is rejected when it is closed while it is being prepared", async () => {
    const connection = new RedisConnection({ url: server.url, clock: systemClock(), random: systemRandom() });
    connection.use({
      async prepare(fresh) {
        await connection.close();
        await fresh.info("server");
      },
    });

    await expect(connection.connect()).rejects.toThrow();
  });

  it("can be closed twice, and then has no timer that keeps the process alive", async () => {
    const connection = await connected(server);
    const down = new Promise<void>((resolve) => connection.use({ down: resolve }));
    await connection.close();
    await down;
    const setTimer = vi.spyOn(globalThis, "setTimeout");

    await connection.close();

    expect(setTimer).not.toHaveBeenCalled();
    setTimer.mockRestore();
  });
});

/** Keeps nothing on disk. */
async function startForgetful(): Promise<Server> {
  const forgetful = await startRedis();
  opened.push(() => forgetful.stop());
  return forgetful;
}

/** Resolves when the server has a lock with this key, such as one that was renewed there. */
async function untilRecorded(server: Server, key: Key): Promise<void> {
  await vi.waitUntil(async () => (await server.command("EXISTS", `own:{${keyHash(key)}}`)) === 1, { timeout: 20_000 });
}

/** `prepare` runs on each new connection before the locks look at it. */
interface Opening {
  readonly maxTtlMs?: number;
  readonly prepare?: () => Promise<void>;
  readonly events?: LockEvents;
}

async function open({ url }: Server, options: Opening = {}): Promise<Locks> {
  const { maxTtlMs = 60_000, prepare = async () => {}, events = {} } = options;
  const random = systemRandom();
  const connection = new RedisConnection({ url, clock: systemClock(), random });
  connection.use({ prepare });
  const defaults = { ttlMs: Math.min(maxTtlMs, 30_000) };
  const limits = { maxTtlMs, defaults };
  const locks = redisLocks({ connection, clock: systemClock(), random, prefix: "own:", ...limits, events });
  opened.push(() => connection.close());
  await connection.connect();
  return locks;
}

async function connected({ url }: Server): Promise<RedisConnection> {
  const connection = new RedisConnection({ url, clock: systemClock(), random: systemRandom() });
  opened.push(() => connection.close());
  await connection.connect();
  return connection;
}
