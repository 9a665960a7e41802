import { afterAll, beforeAll } from "vitest";
import { redisAbilities, redisLockBench } from "../../../test/coordination/redis-lock-bench.ts";
import { redisModelAbilities, redisModelLockBench } from "../../../test/coordination/redis-model-lock-bench.ts";
import { startRedis } from "../../../test/services/redis.ts";
import { locksContract } from "../locks.contract.ts";

let server: Awaited<ReturnType<typeof startRedis>>;

beforeAll(async () => {
  // A server that writes everything down needs no quarantine after its start.
  server = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
});

afterAll(() => server.stop());

locksContract("Redis", () => redisLockBench(server), { abilities: redisAbilities, concurrent: true });
locksContract("a model of Redis", async () => redisModelLockBench(), { abilities: redisModelAbilities });
