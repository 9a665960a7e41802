import { cpus } from "node:os";
import { conclude } from "../conclude.ts";
import { measureLarge } from "./large.ts";
import { plans } from "./plans.ts";
import { targets } from "./targets.ts";
import { measureViewers } from "./viewers.ts";
import { measureWeb } from "./web-size.ts";

// npm run bench:console -- --quick
//
// Everything measured is a process of its own: the program as the package has it, and Chromium.
const plan = process.argv.includes("--quick") ? plans.quick : plans.full;

console.log(`Node ${process.version}, ${cpus().length} CPUs`);
conclude([await measureWeb(), await measureLarge(plan), await measureViewers(plan)], targets);
process.exit();
