import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type RedisService, startRedis } from "../../../test/services/redis.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { keyHash, keyOf } from "../key.ts";
import { watermarksContract } from "../watermarks/watermarks.contract.ts";
import { openWatermark } from "../watermarks/watermarks.ts";
import { RedisConnection } from "./connection.ts";
import { redisWatermarks } from "./redis-watermarks.ts";

let server: RedisService;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

const random = systemRandom();
const serverDate = new Date("2025-02-19T12:00:00Z");

watermarksContract("redis", async () => {
  const prefix = `${random.id()}:`;
  return {
    connect: async () => redisWatermarks({ connection: await connected(), prefix }),
    stop: async () => {},
  };
});

describe("watermarks in Redis", () => {
  it("are readable hashes that never expire", async () => {
    const connection = await connected();
    await openWatermark(redisWatermarks({ connection }), keyOf("gitlab", 42), { from: "now", serverDate, fence: 7n });

    const name = `interlock:m:${keyHash(keyOf("gitlab", 42))}`;
    expect(await server.command("HGET", name, "key")).toBe("gitlab:42");
    expect(await server.command("HGET", name, "at")).toBe("2025-02-19T12:00:00.000Z");
    expect(await server.command("TTL", name)).toBe(-1);
  });

  it("are a collision if the record belongs to another key", async () => {
    const connection = await connected();
    const store = redisWatermarks({ connection, prefix: "collision:" });
    const key = keyOf("gitlab", 42);
    const name = `collision:m:${keyHash(key)}`;
    await server.command("HSET", name, "key", "another", "rev", "1", "fence", "0", "at", "2025-02-19T12:00:00Z");
    await server.command("HSET", name, "id", "");

    await expect(store.read(key)).rejects.toMatchObject({ code: "collision" });
    const cursor = { updatedAt: "2025-02-19T12:00:00.000Z" };
    await expect(store.write(key, { cursor, fence: 0n }, "1")).rejects.toMatchObject({ code: "collision" });
  });

  it("are an error, not a hang, when the server is gone", async () => {
    const other = await startRedis();
    const connection = await connected(other.url);
    const store = redisWatermarks({ connection });
    await other.stop();

    await expect(store.read(keyOf("a"))).rejects.toMatchObject({ code: "unavailable" });
  });
});

async function connected(url = server.url): Promise<RedisConnection> {
  const connection = new RedisConnection({ url, clock: systemClock(), random });
  onTestFinished(() => connection.close());
  await connection.connect();
  return connection;
}
