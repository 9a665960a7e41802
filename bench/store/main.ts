import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { conclude } from "../conclude.ts";
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
  conclude(measured, targets);
} finally {
  rmSync(folder, { recursive: true });
}
