import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { printTable, rounded } from "../locks/table.ts";
import { verdicts } from "../verdicts.ts";
import { type Measured, measureStore } from "./embedded-store.ts";
import { measureHttp } from "./http-server.ts";
import { measureIndex } from "./index-lists.ts";
import { measureLeaseWrites } from "./lease-writes.ts";
import { plans } from "./plans.ts";
import { targets } from "./targets.ts";

// npm run bench:store -- --quick
//
// Each part measures one layer and returns its figures beside those of the bare steps underneath. BENCH_DIR chooses the
// disk; the temporary directory is often not one.
const plan = process.argv.includes("--quick") ? plans.quick : plans.full;
const parts = [measureStore, measureHttp, measureIndex, measureLeaseWrites];

console.log(`Node ${process.version}, ${cpus().length} CPUs`);
const { BENCH_DIR = tmpdir() } = process.env;
const folder = mkdtempSync(join(BENCH_DIR, "interlock-bench-"));
try {
  const measured: Measured[] = [];
  for (const part of parts) measured.push(await part(folder, plan));
  conclude(measured);
} finally {
  rmSync(folder, { recursive: true });
}

function conclude(measured: readonly Measured[]) {
  const figures = Object.assign({}, ...measured.map((part) => part.figures));
  const calibration = Object.assign({}, ...measured.map((part) => part.calibration));
  printTable("Result", ["", "", "target", ""], verdicts(figures, targets));
  console.log(JSON.stringify({ ...roundedAll(figures), calibration: roundedAll(calibration) }));
}

function roundedAll(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, rounded(value)]));
}
