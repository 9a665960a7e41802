import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build, type Rolldown } from "vite";

/** Builds the web app of the console into `directory`, with a compressed copy of each file. Returns the modules in it. */
export async function bundleWeb(directory: string): Promise<readonly string[]> {
  const { output } = (await build({
    configFile: fileURLToPath(new URL("../web/vite.config.ts", import.meta.url)),
    logLevel: "error",
    build: { outDir: directory, emptyOutDir: false },
  })) as Rolldown.RolldownOutput;
  compressFiles(directory);
  return output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
}

function compressFiles(directory: string): void {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name);
    const content = readFileSync(path);
    writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}
