import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

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
  const worker = await bundle("./worker.ts", join(dir, "worker.mjs"));
  const interlock = await bundle("../../src/main.ts", join(dir, "interlock.mjs"));
  return { dir, programs: { worker, interlock } };
}

/** One file of plain JavaScript: dozens of processes that each compile themselves would be most of the work. */
async function bundle(entry: string, file: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(new URL(entry, import.meta.url)),
      outDir: dirname(file),
      target: "node20",
      minify: false,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: basename(file) } },
    },
  });
  return file;
}
