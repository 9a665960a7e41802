import { constants } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes the file whole or not at all, for us alone to read; when this returns, it outlives a power failure. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const unfinished = `${path}.new`;
  {
    await using file = await open(unfinished, "w", 0o600);
    await file.writeFile(content);
    await file.sync();
  }
  await rename(unfinished, path);
  await using directory = await open(dirname(path), constants.O_RDONLY);
  await directory.sync();
}
