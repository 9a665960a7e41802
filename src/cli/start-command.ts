import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "./package.ts";

/** The command that starts Interlock. Only a clone of the repository has `npm start`, which also builds it. */
export function startCommand(folder: string = packageFolder): string {
  return existsSync(join(folder, "scripts", "start.mjs")) ? "npm start" : "interlock up";
}
