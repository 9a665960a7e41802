import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/** Makes one file of plain JavaScript: dozens of processes that each compile themselves would be most of the work. */
export async function bundle(entry: URL, file: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    build: {
      ssr: fileURLToPath(entry),
      outDir: dirname(file),
      target: "node20",
      minify: false,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: basename(file) } },
    },
  });
  return file;
}

/** The command line tool, `interlock`. */
export const interlockEntry = new URL("../../src/main.ts", import.meta.url);
