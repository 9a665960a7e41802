import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Writes the declarations of the library: of `src/library/index.ts`, and of what these name, and of nothing else. */
export function emitLibraryTypes(directory: string): void {
  const all = mkdtempSync(join(tmpdir(), "interlock-types-"));
  try {
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json"), "--outDir", all], {
      stdio: ["ignore", 2, 2],
    });
    if (status !== 0) throw new Error("the declarations of the library could not be written");
    for (const file of reachable(join(all, "library/index.d.ts"))) {
      const target = join(directory, relative(all, file));
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(file, target);
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

/** The declarations that `entry` imports, directly or not, and itself. */
function reachable(entry: string): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g)) {
      const declaration = resolve(dirname(file), path).replace(/\.[jt]s$/, ".d.ts");
      if (!existsSync(declaration)) throw new Error(`${file} imports ${path}, which has no declaration`);
      waiting.push(declaration);
    }
  }
  return found;
}
