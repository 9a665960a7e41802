import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redisAbilities, redisLockBench } from "../../../test/coordination/redis-lock-bench.ts";
import { redisModelAbilities, redisModelLockBench } from "../../../test/coordination/redis-model-lock-bench.ts";
import { startRedis } from "../../../test/services/redis.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { keyOf } from "../key.ts";
import { locksContract } from "../locks.contract.ts";
import type { Locks } from "../locks.ts";
import { RedisConnection } from "./connection.ts";
import { redisLocks } from "./redis-locks.ts";

type Server = Awaited<ReturnType<typeof startRedis>>;

let server: Server;
/** What is to be closed when all tests are over, the last one opened first. */
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
    const connection = new RedisConnection({ url: full.url, random });
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

  it("cannot be asked for longer than a restarted server would wait", async () => {
    const locks = await open(server, { longestTtlMs: 3_000 });

    await expect(locks.acquire(key, { ttlMs: 3_001 })).rejects.toThrow("and 3000; got 3001");
  });

  it("is not granted by a server that may have forgotten it, until it has run out", async () => {
    const forgetful = await startForgetful();
    const locks = await open(forgetful, { longestTtlMs: 3_000 });

    const tried = locks.tryAcquire(key, { ttlMs: 1_000 });
    const waiting = locks.acquire(keyOf("target", "b"), { ttlMs: 1_000, waitMs: 8_000 });

    await expect(tried).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("restarted") });
    (await waiting).assertHeld();
  });

  it("stays with its holder when the server has forgotten everything", async () => {
    const forgetful = await startForgetful();
    const [holder, rival] = [
      await open(forgetful, { longestTtlMs: 3_000 }),
      await open(forgetful, { longestTtlMs: 3_000 }),
    ];
    const lease = await holder.acquire(key, { ttlMs: 3_000, waitMs: 8_000 });

    await forgetful.restart();
    await wait(4_000);

    lease.assertHeld();
    expect(await rival.tryAcquire(key, { ttlMs: 1_000 })).toBeUndefined();
    expect(await lease.release()).toEqual({ released: true });
  });
});

/** Keeps nothing on disk. */
async function startForgetful(): Promise<Server> {
  const forgetful = await startRedis();
  opened.push(() => forgetful.stop());
  return forgetful;
}

async function open({ url }: Server, { longestTtlMs = 60_000 } = {}): Promise<Locks> {
  const random = systemRandom();
  const connection = new RedisConnection({ url, random });
  const locks = redisLocks({ connection, clock: systemClock(), random, prefix: "own:", longestTtlMs });
  opened.push(() => connection.close());
  await connection.connect();
  return locks;
}
