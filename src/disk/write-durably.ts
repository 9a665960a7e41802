import { constants } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

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

const maxTries = 1_000;

/**
 * Creates a file beside `path`. A name that exists is never used: it could be a symbolic link to another file, a file
 * with a loose mode, or a file that another process is writing.
 */
async function createTemporary(path: string): Promise<{ readonly temporary: string; readonly handle: FileHandle }> {
  for (let tries = 1; ; tries++) {
    const temporary = tries === 1 ? `${path}.new` : `${path}.new-${tries}`;
    try {
      return { temporary, handle: await open(temporary, "wx", 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || tries === maxTries) throw error;
    }
  }
}
