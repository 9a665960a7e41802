import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundle } from "../services/bundle.ts";
import { interlockProgram } from "../services/program.ts";

/** Where scenarios are played: a directory for their histories, and the programs that processes run. */
export interface Theatre {
  readonly dir: string;
  readonly programs: Programs;
}

export interface Programs {
  readonly worker: string;
  /** The command line tool, which is also the API server. */
  readonly interlock: string;
}

export async function openTheatre(): Promise<Theatre> {
  const dir = mkdtempSync(join(tmpdir(), "interlock-chaos-"));
  const worker = await bundle(new URL("./worker.ts", import.meta.url), join(dir, "worker.mjs"));
  const interlock = await interlockProgram();
  return { dir, programs: { worker, interlock } };
}
