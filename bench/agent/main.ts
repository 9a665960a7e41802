import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { conclude } from "../conclude.ts";
import { measureEvents } from "./event-to-agent.ts";
import { plans } from "./plans.ts";
import { measurePolling } from "./poll-requests.ts";
import { targets } from "./targets.ts";
import { measureWebhooks } from "./webhooks.ts";

// npm run bench:agent -- --quick
//
// Interlock, GitLab and who sends are processes of their own. BENCH_DIR chooses the disk; the temporary directory is often
// not one.
const plan = process.argv.includes("--quick") ? plans.quick : plans.full;

console.log(`Node ${process.version}, ${cpus().length} CPUs`);
const { BENCH_DIR = tmpdir() } = process.env;
const folder = mkdtempSync(join(BENCH_DIR, "interlock-bench-"));
// The coder is another user if we are root, and passes through it.
chmodSync(folder, 0o711);
try {
  conclude(
    [
      await measureWebhooks(join(folder, "webhooks"), plan),
      await measurePolling(join(folder, "polling"), plan),
      await measureEvents(join(folder, "events"), plan),
    ],
    targets,
  );
} finally {
  rmSync(folder, { recursive: true });
}
