import { expect, it } from "vitest";
import { remediationRequests } from "../../src/resources/index.ts";
import { Dice } from "../chaos/dice.ts";
import { until } from "../executor/processes/until.ts";
import { startPostgres } from "../services/postgres.ts";
import { startRedis } from "../services/redis.ts";
import { Sender } from "./sender.ts";
import { addUp } from "./storm.ts";
import { StormStage } from "./storm-stage.ts";

it("nothing hangs while Redis and PostgreSQL are frozen, and everything proceeds when they are thawed", async () => {
  await using redis = await startRedis({ persistence: "always" });
  await using postgres = await startPostgres();
  const one = { gateways: 1, orchestrators: 1, executors: 1, notifiers: 1 };
  const env = { LOCKS_BACKEND: "redis", REDIS_URL: redis.url, LEDGER_URL: postgres.url };
  await using stage = await StormStage.open({ ...one, env });
  for (const process of stage.stages) process.start();
  const sender = new Sender(stage.urls, new Dice(1));
  await sender.send([alert("DiskFull", 1)]);
  await until("the first is decided", async () => {
    const { items } = await stage.client.list(remediationRequests);
    return items.every(({ status }) => status?.phase !== undefined && status.phase !== "Analyzing");
  });

  postgres.pause();
  // Intake does not depend on the database: it is taken at once, old or new.
  expect(await sender.once([alert("DiskFull", 1)])).toBe(202);
  expect(await sender.once([alert("DiskFull", 2)])).toBe(201);

  redis.pause();
  expect(await sender.once([alert("DiskFull", 1)])).toBe(202);
  const answers = await Promise.all([3, 4, 5].map((node) => sender.once([alert("MemoryHigh", node)])));
  for (const answer of answers) expect([201, 503]).toContain(answer);

  redis.resume();
  postgres.resume();
  await sender.send([3, 4, 5].map((node) => alert("MemoryHigh", node)));
  const { problems, figures } = await addUp(stage, sender);

  expect(problems).toEqual([]);
  expect(figures).toMatchObject({ incidents: 5, "executions Completed": 5 });
}, 240_000);

function alert(name: string, node: number) {
  return { name, node: `worker-${node}`, isOver: false };
}
