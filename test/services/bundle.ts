import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const sqlite = fileURLToPath(import.meta.resolve("@photostructure/sqlite"));

/** Makes one file of plain JavaScript: dozens of processes that each compile themselves would be most of the work. */
export async function bundle(entry: URL, file: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true },
    // It has a part that is no JavaScript, and finds that beside itself.
    resolve: { alias: { "@photostructure/sqlite": sqlite } },
    build: {
      ssr: fileURLToPath(entry),
      outDir: dirname(file),
      target: "node20",
      minify: false,
      emptyOutDir: false,
      rolldownOptions: { external: [sqlite], output: { entryFileNames: basename(file) } },
    },
  });
  return file;
}

/** The command line tool, `interlock`. */
export const interlockEntry = new URL("../../src/main.ts", import.meta.url);
