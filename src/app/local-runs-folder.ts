import { join } from "node:path";
import type { Config } from "../config/index.ts";

/** Where the local engine keeps its runs. `directory` is the data directory of the process. */
export function localRunsFolder({ localDir }: Pick<Config["execution"], "localDir">, directory: string): string {
  return localDir ?? join(directory, "local");
}
