import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export interface DiskUse {
  readonly bytes: number;
  readonly files: number;
}

/**
 * Counts the files of the folders. A file counts with its size or its disk blocks, whichever is larger. Links are not
 * followed.
 */
export async function diskUse(folders: readonly string[]): Promise<DiskUse> {
  let bytes = 0;
  let files = 0;
  const open = [...folders];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
      const path = join(folder, entry.name);
      files++;
      if (entry.isDirectory()) open.push(path);
      const found = await lstat(path).catch(() => undefined);
      if (found) bytes += Math.max(found.isFile() ? found.size : 0, found.blocks * 512);
    }
  }
  return { bytes, files };
}
