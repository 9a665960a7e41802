import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { informer } from "../../src/kube/runtime/informer.ts";
import type { Mutation } from "../services/bundle.ts";

const runtime = fileURLToPath(new URL("../../src/kube/runtime/", import.meta.url));
const files = readdirSync(runtime).filter((name) => !name.endsWith(".test.ts"));

/** The informer with one mistake in it. A mutation that no longer fits the source is a failure, not a pass. */
export async function mutantInformer({ file, from, to }: Mutation): Promise<typeof informer> {
  const folder = mkdtempSync(join(tmpdir(), "informer-mutant-"));
  for (const name of files) {
    let source = readFileSync(join(runtime, name), "utf8");
    if (name === file) {
      if (source.split(from).length !== 2) throw new Error(`"${from}" is not in ${file} exactly once`);
      source = source.replace(from, to);
    }
    // What lies outside the folder stays shared: an error class must be the same class on both sides.
    writeFileSync(join(folder, name), source.replaceAll('from "../', `from "${join(runtime, "..")}/`));
  }
  try {
    const module = await import(/* @vite-ignore */ join(folder, "informer.ts"));
    return module.informer;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
