import { constants } from "node:fs";
import { link, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { createTemporary } from "./create-temporary.ts";

/**
 * Creates a file, whole or not at all, for us alone to read; when this returns, it outlives a power failure. Never
 * replaces a file: rejects with EEXIST if there is one.
 */
export async function createDurably(path: string, content: string | Uint8Array): Promise<void> {
  const { temporary, handle } = await createTemporary(path);
  {
    await using file = handle;
    try {
      await file.writeFile(content);
      await file.sync();
      // Unlike a rename, a link does not replace a file that another process has created meanwhile.
      await link(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  }
  await using directory = await open(dirname(path), constants.O_RDONLY);
  await directory.sync();
}
