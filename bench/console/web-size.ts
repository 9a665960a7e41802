import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { interlockProgram } from "../../test/services/program.ts";

/** Everything that a browser may load, compressed with gzip. */
export async function measureWeb() {
  const folder = join(dirname(await interlockProgram()), "web");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const bytesOf = (ending: string) =>
    files
      .filter((file) => file.isFile() && file.name.endsWith(ending))
      .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  return { figures: { gzipKb: bytesOf(".gz") / 1_000 }, calibration: { brotliKb: bytesOf(".br") / 1_000 } };
}
