import { expect, it } from "vitest";
import {
  keyOf,
  openWatermark,
  RedisConnection,
  redisClaims,
  redisLocks,
  redisWatermarks,
} from "../../src/coordination/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { startCluster } from "../services/redis-cluster.ts";

const clock = systemClock();
const random = systemRandom();

it("locks, claims and watermarks on a Cluster are all in one slot, wherever a client begins to ask", async () => {
  await using cluster = await startCluster();
  const [first = "", ...others] = cluster.url.slice("redis+cluster://".length).split(",");
  const one = await open(`redis+cluster://${first}`);
  const other = await open(`redis+cluster://${others.join(",")}`);

  const lease = await one.locks.acquire(keyOf("a"));
  const waiting = other.locks.acquire(keyOf("a"));
  const leases = await Promise.all(Array.from({ length: 20 }, (_, i) => other.locks.acquire(keyOf("many", `${i}`))));
  const claim = await one.claims.claim(keyOf("b"));
  const again = await other.claims.claim(keyOf("b"));
  const mark = { from: "now", serverDate: new Date("2026-01-01T00:00:00Z") } as const;
  const watermark = await openWatermark(other.watermarks, keyOf("c"), mark);
  await lease.release();
  const next = await waiting;

  expect(one.locks.guarantee).toBe("async-replicated");
  expect(next.fence).toBeGreaterThan(lease.fence);
  expect(leases).toHaveLength(20);
  expect([claim.state, again.state]).toEqual(["new", "in-flight"]);
  expect(watermark.record.cursor.updatedAt).toBe("2026-01-01T00:00:00.000Z");
  const sizes = await Promise.all(cluster.nodes.map((node) => node.command("DBSIZE")));
  expect(sizes.filter((size) => size !== 0)).toHaveLength(1);
  await one.close();
  await other.close();
}, 60_000);

async function open(url: string) {
  const connection = new RedisConnection({ url, clock, random });
  const options = { connection, clock, random };
  // Twice the time is up before a new server grants anything: it may be the copy of one that did.
  const locks = redisLocks({ ...options, maxTtlMs: 1_000, defaults: { ttlMs: 1_000 } });
  const claims = redisClaims(options);
  await connection.connect();
  return {
    locks,
    claims,
    watermarks: redisWatermarks({ connection }),
    async close() {
      await claims.close();
      await locks.close();
      await connection.close();
    },
  };
}
