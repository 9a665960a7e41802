import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleWeb } from "../../scripts/bundle-web.ts";
import { bundle, interlockEntry } from "./bundle.ts";

/** The test runner builds the program once for all files and passes its path in this variable. */
const variable = "INTERLOCK_TEST_PROGRAM";
let built: Promise<string> | undefined;

/** Returns the path of the bundled command line tool, with the web app beside it. It starts far faster than its sources. */
export function interlockProgram(): Promise<string> {
  const given = process.env[variable];
  if (given) return Promise.resolve(given);
  built ??= buildProgram((remove) => process.once("exit", remove));
  return built;
}

/** Global setup of vitest: builds the program before the first test file, removes it after the last. */
export async function setup(): Promise<() => void> {
  let removeAtEnd = () => {};
  process.env[variable] = await buildProgram((remove) => {
    removeAtEnd = remove;
  });
  return () => removeAtEnd();
}

async function buildProgram(atEnd: (remove: () => void) => void): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "interlock-program-"));
  // Some tests run it as another user.
  chmodSync(directory, 0o755);
  atEnd(() => rmSync(directory, { recursive: true, force: true }));
  const dist = join(directory, "dist");
  const [program] = await Promise.all([
    bundle(interlockEntry, join(dist, "interlock.mjs")),
    bundleWeb(join(dist, "web")),
  ]);
  return program;
}
