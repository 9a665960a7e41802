import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { conclude } from "../conclude.ts";
import { median } from "../locks/quantile.ts";
import { growth } from "./growth.ts";
import { type Load, Senders } from "./load.ts";
import { plans } from "./plans.ts";
import { bareServer, gatewayServer } from "./servers.ts";
import { signalToRunMs } from "./signal-to-run.ts";
import { targets } from "./targets.ts";

// npm run bench:gateway -- --quick
//
// Duplicates of 50 open incidents, durable in the occurrence log before they are answered. The bare handler parses and checks
// the same body in the same process, in turn. BENCH_DIR chooses the disk; the temporary directory is often not one.
const plan = process.argv.includes("--quick") ? plans.quick : plans.full;

console.log(`Node ${process.version}, ${cpus().length} CPUs`);
const { BENCH_DIR = tmpdir() } = process.env;
const folder = mkdtempSync(join(BENCH_DIR, "interlock-bench-"));
const [gateway, bare, senders] = [await gatewayServer(folder), await bareServer(), new Senders()];
try {
  const single = await compare({ alerts: 1, requests: plan.singles, connections: 50 });
  const batch = await compare({ alerts: 50, requests: plan.batches, connections: 20 });
  const at1000 = { alerts: 1, requests: 1_000 * plan.pacedSeconds, connections: 100, perSecond: 1_000 };
  const paced = await senders.send({ port: gateway.port, ...at1000 });
  const pacedBare = await senders.send({ port: bare.port, ...at1000 });
  const rssGrowthMb = await memoryGrowth();
  const { flapGrowth, seriesGrowth, ...turnCosts } = await growth(join(folder, "growth"));
  const toRun = await signalToRunMs(join(folder, "remediation"), plan.remediations);
  conclude(
    [
      {
        figures: {
          singleVsBareFastify: single.ours / single.bare,
          batch50VsBareFastify: batch.ours / batch.bare,
          batchSignalsPerSecond: 50 * batch.ours,
          p99MsAt1000: paced.p99Ms,
          rssGrowthMb,
          signalToRunMs: toRun,
          flapGrowth,
          seriesGrowth,
        },
        calibration: {
          bareSinglesPerSecond: single.bare,
          bareBatchesPerSecond: batch.bare,
          bareP99MsAt1000: pacedBare.p99Ms,
          ...turnCosts,
        },
      },
    ],
    targets,
  );
} finally {
  senders.close();
  await gateway.close();
  await bare.close();
  rmSync(folder, { recursive: true });
}

/** Medians of rounds in turn, after one to warm up. */
async function compare(load: Omit<Load, "port">): Promise<{ readonly ours: number; readonly bare: number }> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round <= plan.rounds; round++) {
    const [one, other] = [
      await senders.send({ port: gateway.port, ...load }),
      await senders.send({ port: bare.port, ...load }),
    ];
    if (round === 0) continue;
    ours.push(one.perSecond);
    theirs.push(other.perSecond);
  }
  return { ours: median(ours), bare: median(theirs) };
}

/** Of this process, while it takes as many signals as a year brings. */
async function memoryGrowth(): Promise<number> {
  const { from, to } = plan.memory;
  await senders.send({ port: gateway.port, alerts: 50, requests: from / 50, connections: 20 });
  const before = process.memoryUsage().rss;
  await senders.send({ port: gateway.port, alerts: 50, requests: (to - from) / 50, connections: 20 });
  return (process.memoryUsage().rss - before) / 1024 / 1024;
}
