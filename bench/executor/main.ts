import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { conclude } from "../conclude.ts";
import { measureGrowth } from "./growth.ts";
import { measureLatency } from "./latency.ts";
import { type Measured, plans } from "./plans.ts";
import { targets } from "./targets.ts";
import { measureThroughput } from "./throughput.ts";

// npm run bench:executor -- --quick
//
// The engine's runs end at once, so what is measured is the executor, the store and the ledger, all durable. BENCH_DIR
// chooses the disk; the temporary directory is often not one.
const plan = process.argv.includes("--quick") ? plans.quick : plans.full;

console.log(`Node ${process.version}, ${cpus().length} CPUs`);
const { BENCH_DIR = tmpdir() } = process.env;
const folder = mkdtempSync(join(BENCH_DIR, "interlock-bench-"));
try {
  const measured: Measured[] = [];
  for (const part of [measureLatency, measureThroughput, measureGrowth]) measured.push(await part(folder, plan));
  conclude(measured, targets);
} finally {
  rmSync(folder, { recursive: true });
}
