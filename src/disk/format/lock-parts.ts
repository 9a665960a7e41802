import { type FileHandle, readdir } from "node:fs/promises";
import { join } from "node:path";
import { DiskError } from "../disk.ts";
import { ownerFile } from "../lock-directory.ts";
import { openLocked } from "../open-locked.ts";

/** The maximum depth of the parts of a data directory, such as `objects` and `ledger/WRITER`. */
const maxDepth = 2;

/**
 * Locks a directory and the directories in it that belong to one process at a time, until it is disposed of. Throws
 * DiskError `in-use` while another process has one of them, whatever its version.
 */
export async function lockParts(directory: string): Promise<AsyncDisposable> {
  const handles: FileHandle[] = [];
  async function unlock() {
    for (const handle of handles) await handle.close();
  }
  try {
    for (const part of new Set([directory, ...(await listParts(directory, maxDepth))])) handles.push(await lock(part));
    return { [Symbol.asyncDispose]: unlock };
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function lock(directory: string): Promise<FileHandle> {
  const handle = await openLocked(directory);
  if (handle) return handle;
  throw new DiskError("in-use", `${directory} is in use; stop the process that uses it before the data is migrated`);
}

async function listParts(directory: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const own = entries.some(({ name }) => name === ownerFile) ? [directory] : [];
  if (depth === 0) return own;
  const inner = entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => listParts(join(directory, name), depth - 1));
  return [...own, ...(await Promise.all(inner)).flat()];
}
