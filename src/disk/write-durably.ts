import { constants } from "node:fs";
import { type FileHandle, link, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

const maxAttempts = 1_000;

/** Writes the whole file or nothing, readable only for our user. When it resolves, the file survives a power failure. */
export function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  return publish(path, content, rename);
}

/** Like `writeDurably`, but never replaces a file: rejects with EEXIST if there is one. */
export function createDurably(path: string, content: string | Uint8Array): Promise<void> {
  return publish(path, content, async (temporary) => {
    // Unlike a rename, a link does not replace a file that another process has created meanwhile.
    await link(temporary, path);
    await rm(temporary);
  });
}

/**
 * Returns the text of `file`. If the file does not exist, it is created with the text that `create` returns, readable by this user
 * only. Processes that start together get the same text.
 */
export async function readOrCreate(file: string, create: () => string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await createDurably(file, create()).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  return await readFile(file, "utf8");
}

/** Gives a finished file its name, and removes the temporary one. */
type GiveName = (temporary: string, path: string) => Promise<void>;

async function publish(path: string, content: string | Uint8Array, giveName: GiveName): Promise<void> {
  const { temporary, handle } = await createTemporary(path);
  {
    await using file = handle;
    try {
      await file.writeFile(content);
      await file.sync();
      await giveName(temporary, path);
    } catch (error) {
      // Only now: once the file is renamed, another writer may use its temporary name.
      await rm(temporary, { force: true });
      throw error;
    }
  }
  await using directory = await open(dirname(path), constants.O_RDONLY);
  await directory.sync();
}

/**
 * Creates a file beside `path`, readable only for our user. An existing name is never used: it could be a symbolic link to
 * another file, a file that others can read, or a file that another process is writing.
 */
async function createTemporary(path: string): Promise<{ temporary: string; handle: FileHandle }> {
  for (let attempt = 1; ; attempt++) {
    const temporary = attempt === 1 ? `${path}.new` : `${path}.new-${attempt}`;
    try {
      return { temporary, handle: await open(temporary, "wx", 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt === maxAttempts) throw error;
    }
  }
}
