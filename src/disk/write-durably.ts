import { constants } from "node:fs";
import { type FileHandle, link, lstat, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { systemRandom } from "../time/index.ts";

const random = systemRandom();

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
  const temporary = `${path}.new-${random.id()}`;
  {
    // Readable only for our user. Another file of this name would be a link to a file, or one that others can read.
    await using file = await open(temporary, "wx", 0o600);
    // Files that cannot be removed do no harm.
    await removeAbandoned(path, file).catch(() => {});
    try {
      await file.writeFile(content);
      await file.sync();
      await giveName(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
  await using directory = await open(dirname(path), constants.O_RDONLY);
  await directory.sync();
}

/**
 * A temporary file that is so much older than ours is from a process that died. If that process was only stopped, it fails to
 * rename its file, and replaces nothing: no writer uses the name of another.
 */
const abandonedAfterMs = 3_600_000;

/** Removes the temporary files of `path` that are abandoned. Their age is by the clock of the file system. */
async function removeAbandoned(path: string, ours: FileHandle): Promise<void> {
  const beforeMs = (await ours.stat()).mtimeMs - abandonedAfterMs;
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(basename(path)) || !/^\.new(-[\w-]+)?$/.test(name.slice(basename(path).length))) continue;
    const found = await lstat(join(dirname(path), name));
    if (found.isFile() && found.mtimeMs < beforeMs) await rm(join(dirname(path), name), { force: true });
  }
}
