import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { redisBackend } from "../../../test/coordination/claims-backends.ts";
import { type RedisService, startRedis } from "../../../test/services/redis.ts";
import { sleep, systemClock, systemRandom } from "../../time/index.ts";
import { claimsContract } from "../claims/claims.contract.ts";
import type { Claims, NewClaim } from "../claims/claims.ts";
import { type Key, keyHash, keyOf } from "../key.ts";
import { RedisConnection } from "./connection.ts";
import { redisClaims } from "./redis-claims.ts";

let server: RedisService;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

claimsContract("redis", () => redisBackend(server));

describe("claims in Redis", () => {
  it("cost at most 240 bytes when done with a result of 40", async () => {
    const { claims } = await connect({ prefix: "interlock:" });
    const key = keyOf("review", "gitlab.example.com", 42, 7, "a".repeat(40));

    await (await fresh(claims, key)).complete("b".repeat(40));

    expect(await server.command("MEMORY", "USAGE", `interlock:c:${keyHash(key)}`)).toBeLessThanOrEqual(240);
  });

  it("take one round trip to claim and one to complete", async () => {
    const { claims } = await connect();
    await (await fresh(claims, keyOf("warm up"))).complete();
    const before = await calls();

    await (await fresh(claims, keyOf("a"))).complete();

    expect((await calls()) - before).toBe(2);
  });

  it("renew together when they fall due together", async () => {
    const { claims } = await connect();
    const keys = Array.from({ length: 50 }, (_, i) => keyOf("batch", i));
    const held = await Promise.all(keys.map((key) => fresh(claims, key, 1_500)));
    const before = await calls();

    await sleep(systemClock(), 2_000);

    for (const claim of held) claim.assertHeld();
    // Fifty claims, at least two renewals each.
    expect((await calls()) - before).toBeLessThan(25);
  });

  it("have a larger fence even after the counter was lost", async () => {
    const { claims, prefix } = await connect();
    const first = await fresh(claims, keyOf("a"));
    await first.fail({ retryAfterMs: 0 });
    await server.command("DEL", `${prefix}claim-fence`);

    const second = await fresh(claims, keyOf("a"));

    expect(second.fence).toBeGreaterThan(first.fence);
  });

  it("are granted during the quarantine of locks", async () => {
    const { claims, prefix } = await connect();
    await server.command("SET", `${prefix}fence`, "quarantine");

    expect((await claims.claim(keyOf("a"))).state).toBe("new");
  });

  it("are forbidden, in the server's words, to a user without the rights", async () => {
    await server.command("ACL", "SETUSER", "guest", "on", ">secret", "~guest:*", "~interlock:format", "+@all");
    const { claims } = await connect({ url: server.url.replace("//", "//guest:secret@") });

    await expect(claims.claim(keyOf("a"))).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("NOPERM"),
    });
  });
});

describe("a Redis that restarts empty", () => {
  it("loses claims, ends those in flight, and grants larger fences", async () => {
    const other = await startRedis();
    onTestFinished(() => other.stop());
    const { claims } = await connect({ url: other.url });
    const claim = await fresh(claims, keyOf("a"), 1_500);
    const { signal } = claim;

    await other.restart();
    for (let i = 0; i < 100 && !signal.aborted; i++) await sleep(systemClock(), 30);

    expect(signal.aborted).toBe(true);
    expect((await fresh(claims, keyOf("a"))).fence).toBeGreaterThan(claim.fence);
  });
});

async function connect({ url = server.url, prefix = `${systemRandom().id()}:` } = {}) {
  const random = systemRandom();
  const connection = new RedisConnection({ url, clock: systemClock(), random });
  await connection.connect();
  const claims = redisClaims({ connection, clock: systemClock(), random, prefix });
  onTestFinished(async () => {
    await claims.close();
    await connection.close();
  });
  return { claims, prefix };
}

async function fresh(claims: Claims, key: Key, leaseMs = 5_000): Promise<NewClaim> {
  const claim = await claims.claim(key, { leaseMs });
  if (claim.state !== "new") throw new Error(`${key} is ${claim.state}`);
  return claim;
}

/** Script calls the server has run. */
async function calls(): Promise<number> {
  const stats = String(await server.command("INFO", "commandstats"));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}
