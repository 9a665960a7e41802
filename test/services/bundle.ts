import { existsSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { bundle as bundleInto } from "../../scripts/bundle.ts";

/** One change to a source file that makes the program wrong. */
export interface Mutation {
  /** How the path of the file ends. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const prebuilds = fileURLToPath(new URL("../../node_modules/@photostructure/sqlite/prebuilds", import.meta.url));

/**
 * Bundles a program, as the package does: dozens of processes that each compile themselves would be most of the work.
 * `file` is its path, and its other files are beside it.
 */
export async function bundle(entry: URL, file: string, mutations: readonly Mutation[] = []): Promise<string> {
  const directory = dirname(file);
  const entries = { [basename(file, ".mjs")]: fileURLToPath(entry) };
  await bundleInto({ entries, directory, plugins: mutations.map(mutating) });
  const beside = join(directory, "prebuilds");
  if (!existsSync(beside)) symlinkSync(prebuilds, beside);
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
export const interlockEntry = new URL("../../src/main.ts", import.meta.url);
