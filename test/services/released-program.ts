import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./working-tree.ts";

export interface ReleasedProgram extends Disposable {
  /** The file to run with Node. */
  readonly program: string;
  readonly version: string;
}

/** The newest release that is kept for tests in `test/releases`, unpacked; or the release in `tarball`. */
export function releasedProgram(tarball = newestRelease()): ReleasedProgram {
  const directory = mkdtempSync(join(tmpdir(), "interlock-released-"));
  execFileSync("tar", ["-xzf", tarball, "-C", directory]);
  const program = join(directory, "package/dist/interlock.mjs");
  const version = execFileSync(process.execPath, [program, "--version"], { encoding: "utf8" }).trim();
  return { program, version, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

function newestRelease(): string {
  const folder = join(root, "test/releases");
  const [newest] = readdirSync(folder)
    .filter((file) => file.endsWith(".tgz"))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  if (newest === undefined) throw new Error(`${folder} has no release; see scripts/keep-release.ts`);
  return join(folder, newest);
}
