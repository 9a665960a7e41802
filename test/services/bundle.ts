import { existsSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";

/** One change to a source file that makes the program wrong. */
export interface Mutation {
  /** How the path of the file ends. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const installed = fileURLToPath(new URL("../../node_modules", import.meta.url));
const sqlite = join(installed, "@photostructure/sqlite/dist/index.mjs");

/** Makes one file of plain JavaScript: dozens of processes that each compile themselves would be most of the work. */
export async function bundle(entry: URL, file: string, mutations: readonly Mutation[] = []): Promise<string> {
  await build({
    plugins: mutations.map(mutating),
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
  // The thread that reads YAML loads its library by name, at run time.
  const beside = join(dirname(file), "node_modules");
  if (!existsSync(beside)) symlinkSync(installed, beside);
  return file;
}

/** A mutation that no longer fits the source is a failure, not a pass. */
function mutating({ file, from, to }: Mutation): Plugin {
  let isDone = false;
  return {
    name: "mutation",
    enforce: "pre",
    transform(code, id) {
      if (!id.endsWith(file)) return undefined;
      if (code.split(from).length !== 2) throw new Error(`"${from}" is not in ${file} exactly once`);
      isDone = true;
      return code.replace(from, to);
    },
    buildEnd() {
      if (!isDone) throw new Error(`${file} is not part of the program`);
    },
  };
}

/** The command line tool, `interlock`. */
export const interlockEntry = new URL("../../src/cli/command-line.ts", import.meta.url);
