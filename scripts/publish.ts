import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** How long a process that started from an earlier build may still import its chunks. */
const keepMs = 24 * 60 * 60 * 1_000;

/**
 * Moves a finished build into `dist`, on the same file system. Processes that start meanwhile load the earlier build or the new
 * one, never a mixture: chunks have their hash in the name, the files that refer to them follow, and build.json is last.
 */
export function publish(build: string, dist: string): void {
  const files = filesIn(build).sort((a, b) => rank(a) - rank(b));
  for (const file of files) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(build, file), join(dist, file));
  }
  const current = new Set(files);
  const isOld = (file: string) => statSync(join(dist, file)).mtimeMs < Date.now() - keepMs;
  for (const folder of ["chunks", "web/assets"]) {
    for (const file of filesIn(join(dist, folder)).map((file) => join(folder, file))) {
      if (!current.has(file) && isOld(file)) rmSync(join(dist, file), { force: true });
    }
  }
}

function rank(file: string): number {
  if (file === "build.json") return 2;
  return file.includes("/") && !file.startsWith("web/index.html") ? 0 : 1;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
