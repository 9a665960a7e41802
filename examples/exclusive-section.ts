// One process at a time restarts a deployment. Run two copies at once and watch the second wait:
//   REDIS_URL=redis://127.0.0.1:6379 npx tsx examples/exclusive-section.ts
import { hostname } from "node:os";
import { keyOf, RedisConnection, redisLocks } from "../src/coordination/index.ts";
import { sleep, systemClock, systemRandom } from "../src/time/index.ts";

const clock = systemClock();
const random = systemRandom();
const url = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
const connection = new RedisConnection({ url, clock, random });
const locks = redisLocks({
  connection,
  clock,
  random,
  who: `example/${hostname()}/${process.pid}`,
  // A prefix of its own, so that these short leases change nothing for other programs on the same Redis.
  prefix: "interlock-example:",
  defaults: { ttlMs: 10_000 },
  maxTtlMs: 10_000,
  // A Redis that started a moment ago may have forgotten leases that are still held; they have to run out first.
  quarantined: (ms) => console.log(`Redis started a moment ago; grants begin in ${Math.ceil(ms / 1_000)} s`),
});
await connection.connect().catch(({ message }: Error) => {
  console.error(`error: ${message}; start a Redis: redis-server --port 6379`);
  process.exit(1);
});

await locks.run(keyOf("payment/deployment/payment-api"), async (lease) => {
  console.log(`held, fence ${lease.fence}`);
  // Everything that can wait takes the signal: it aborts if the lease is lost, before another holder can take the key.
  await sleep(clock, 5_000, lease.signal);
  // Right before a side effect, ask; and send the fence along, so that a late write is refused.
  lease.assertHeld();
  console.log("done");
});
await locks.close();
