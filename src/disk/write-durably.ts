import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { createTemporary } from "./create-temporary.ts";

/** Writes the file whole or not at all, for us alone to read; when this returns, it outlives a power failure. */
export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const { temporary, handle } = await createTemporary(path);
  {
    await using file = handle;
    try {
      await file.writeFile(content);
      await file.sync();
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
  await using directory = await open(dirname(path), constants.O_RDONLY);
  await directory.sync();
}
