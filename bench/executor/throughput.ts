import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { Endings, hasFreed } from "./endings.ts";
import type { Measured, Plan } from "./plans.ts";
import { clock, openWorkbench, type Workbench } from "./workbench.ts";

const targets = 64;

/** As many executions as 64 targets take, one after another on each. */
export async function measureThroughput(folder: string, plan: Plan): Promise<Measured> {
  const directory = mkdtempSync(join(folder, "throughput-"));
  const bench = await openWorkbench(directory);
  await bench.start();
  const endings = new Endings(bench, hasFreed);
  await round(bench, endings, "warm", plan.perTarget);

  const before = { ...bench.calls };
  const rates: number[] = [];
  for (let i = 0; i < plan.rounds; i++) rates.push(await round(bench, endings, `r${i}`, plan.perTarget));
  const executions = plan.rounds * plan.perTarget * targets;
  const perExecution = (kind: keyof typeof before) => (bench.calls[kind] - before[kind]) / executions;
  const bare = await bareWrites(bench, perExecution("writes"));
  endings.stop();
  await bench.close();
  rmSync(directory, { recursive: true });

  printTable(
    "64 targets",
    ["", ""],
    [
      ["executions/s", median(rates)],
      ["writes of the executor per execution", perExecution("writes")],
      ["  Kubernetes Events besides", perExecution("events")],
      ["reads per execution", perExecution("reads")],
      ["as many bare durable writes, 64 in flight, executions/s", bare],
    ],
  );
  return {
    figures: { executionsPerSecond: median(rates), writesPerExecution: perExecution("writes") },
    calibration: { bareWritesExecutionsPerSecond: bare, readsPerExecution: perExecution("reads") },
  };
}

/** Executions per second. */
async function round(bench: Workbench, endings: Endings, label: string, perTarget: number): Promise<number> {
  const before = clock.now();
  await Promise.all(
    Array.from({ length: targets }, async (_, target) => {
      for (let i = 0; i < perTarget; i++) {
        const name = `${label}-${target}-${i}`;
        const freed = endings.of(name);
        await bench.create(name, `node/worker-${target}`);
        await freed;
      }
    }),
  );
  return (targets * perTarget) / ((clock.now() - before) / 1_000);
}

/** How often per second so many writes can be made at all, if nothing has to be decided in between. */
async function bareWrites({ client }: Workbench, writes: number): Promise<number> {
  const type = { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true };
  const count = 6_400;
  const before = clock.now();
  await Promise.all(
    Array.from({ length: targets }, async (_, lane) => {
      for (let i = 0; i < count / targets; i++) {
        const metadata = { name: `bare-${lane}-${i}`, namespace: "default" };
        await client.create(type, { apiVersion: "v1", kind: "ConfigMap", metadata });
      }
    }),
  );
  return count / writes / ((clock.now() - before) / 1_000);
}
