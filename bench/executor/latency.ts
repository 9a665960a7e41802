import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { median, quantile } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { Endings, hasEnded } from "./endings.ts";
import type { Measured, Plan } from "./plans.ts";
import { clock, openWorkbench } from "./workbench.ts";

/** One execution at a time: from its creation to its run, and from the end of that to the end of the execution. */
export async function measureLatency(folder: string, plan: Plan): Promise<Measured> {
  const directory = mkdtempSync(join(folder, "latency-"));
  const bench = await openWorkbench(directory);
  await bench.start();
  const endings = new Endings(bench, hasEnded);
  const toRun: number[] = [];
  const toEnd: number[] = [];
  const bare: number[] = [];
  for (let i = -plan.warmUp; i < plan.oneByOne; i++) {
    const name = `one-${i + plan.warmUp}`;
    const ended = endings.of(name);
    const before = clock.now();
    const { uid = "" } = (await bench.create(name, `node/worker-${i + plan.warmUp}`)).metadata;
    const createdAt = clock.now();
    const endedAt = await ended;
    if (i < 0) continue;
    bare.push(createdAt - before);
    toRun.push((bench.tekton.startedAt.get(uid) ?? Number.NaN) - createdAt);
    toEnd.push(endedAt - (bench.tekton.endedAt.get(uid) ?? Number.NaN));
  }
  endings.stop();
  await bench.close();
  rmSync(directory, { recursive: true });

  printTable(
    "One execution at a time",
    ["ms", "p50", "p99"],
    [
      ["created → run started", median(toRun), quantile(toRun, 0.99)],
      ["run ended → execution ended", median(toEnd), quantile(toEnd, 0.99)],
      ["one durable create, for comparison", median(bare), quantile(bare, 0.99)],
    ],
  );
  return {
    figures: { pendingToRunMs: median(toRun), finishedToTerminalMs: median(toEnd) },
    calibration: { durableCreateMs: median(bare) },
  };
}
