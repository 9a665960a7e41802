import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../test/services/postgres.ts";
import { conclude } from "../conclude.ts";
import { measureDrain } from "./drain.ts";
import { measureJournal } from "./journal.ts";
import { type Measured, plans } from "./plans.ts";
import { targets } from "./targets.ts";
import { measureTimeline } from "./timeline.ts";

// npm run bench:ledger -- --quick
//
// A journal on the disk and a PostgreSQL of its own, both durable. BENCH_DIR chooses the disk of the journal; the temporary
// directory is often not one.
const plan = process.argv.includes("--quick") ? plans.quick : plans.full;

console.log(`Node ${process.version}, ${cpus().length} CPUs`);
const { BENCH_DIR = tmpdir() } = process.env;
const folder = mkdtempSync(join(BENCH_DIR, "interlock-bench-"));
const postgres = await startPostgres();
try {
  const measured: Measured[] = [];
  for (const part of [measureJournal, measureDrain, measureTimeline]) measured.push(await part(folder, plan, postgres));
  conclude(measured, targets);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true });
}
