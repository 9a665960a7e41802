import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Where scenarios are played: a directory for their histories, and the program that the workers run. */
export interface Theatre {
  readonly dir: string;
  readonly program: string;
}

export async function openTheatre(): Promise<Theatre> {
  const dir = mkdtempSync(join(tmpdir(), "interlock-chaos-"));
  await bundle(fileURLToPath(new URL("./worker.ts", import.meta.url)), dir);
  return { dir, program: join(dir, "worker.mjs") };
}

/** One file of plain JavaScript: dozens of processes that each compile themselves would be most of the work. */
async function bundle(entry: string, dir: string) {
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: entry,
      outDir: dir,
      target: "node20",
      minify: false,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: "worker.mjs" } },
    },
  });
}
