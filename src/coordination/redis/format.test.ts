import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RedisService, startRedis } from "../../../test/services/redis.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { RedisConnection } from "./connection.ts";
import { checkFormat } from "./format.ts";

/** Gives the key `old` the name `new`. */
const renameKey =
  "if redis.call('EXISTS', prefix .. 'old') == 1 then redis.call('RENAME', prefix .. 'old', prefix .. 'new') end";

describe("the format of the keys in Redis", () => {
  let server: RedisService;
  let operator: Redis;
  beforeAll(async () => {
    server = await startRedis();
    operator = new Redis(server.url);
  });
  beforeEach(() => operator.flushall());
  afterAll(async () => {
    operator.disconnect();
    await server.stop();
  });

  it("is recorded by the first connection", async () => {
    const connection = await connect();

    expect(await operator.get("interlock:format")).toBe("1");
    await connection.close();
  });

  it("of a newer version is refused, and nothing is changed", async () => {
    await operator.set("interlock:format", "2");

    await expect(connect()).rejects.toThrow(
      "its keys interlock:* are in format 2, written by a newer version of Interlock; this version supports formats up to 1",
    );
    expect(await operator.keys("*")).toEqual(["interlock:format"]);
  });

  it("that is not a version is refused with the name of the key", async () => {
    await operator.set("interlock:format", "two");

    await expect(connect()).rejects.toThrow("interlock:format is not the number of a version");
  });

  it("is migrated once, by whichever of several connections is first; keys without a version are in the first", async () => {
    await operator.set("interlock:old", "value");
    const connections = await Promise.all([1, 2, 3].map(() => connect()));
    const count = "redis.call('INCR', prefix .. 'migrations')";

    await Promise.all(connections.map((one) => checkFormat(one, "interlock:", [`${renameKey}\n${count}`])));

    expect(await operator.mget("interlock:new", "interlock:format", "interlock:migrations")).toEqual([
      "value",
      "2",
      "1",
    ]);
    await Promise.all(connections.map((one) => one.close()));
  });

  it("is not raised by a migration that fails", async () => {
    const connection = await connect();

    await expect(checkFormat(connection, "interlock:", ["redis.call('NONSENSE')"])).rejects.toThrow();

    expect(await operator.get("interlock:format")).toBe("1");
    await connection.close();
  });

  async function connect(): Promise<RedisConnection> {
    const connection = new RedisConnection({ url: server.url, clock: systemClock(), random: systemRandom() });
    try {
      await connection.connect();
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }
});
