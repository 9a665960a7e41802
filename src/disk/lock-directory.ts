import { type FileHandle, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../time/index.ts";
import { DiskError } from "./disk.ts";
import { openLocked } from "./open-locked.ts";

/** Names the process that has the directory open. For display: the lock itself is the kernel's. */
const ownerFile = "owner";

/**
 * The directory, opened and locked for this process alone; closing the handle unlocks it. The lock is on the directory
 * and not on a file in it, because a lock file can be deleted under a living owner.
 */
export async function lockDirectory(directory: string, clock: Clock): Promise<FileHandle> {
  const handle = await openLocked(directory);
  if (!handle) throw new DiskError("in-use", `${directory} is in use${await describeOwner(directory)}`);
  const since = new Date(clock.wallMs()).toISOString();
  // A full disk must not prevent opening the directory: its files can still be read.
  await writeFile(join(directory, ownerFile), `by pid ${process.pid} since ${since}\n`).catch(() => {});
  return handle;
}

async function describeOwner(directory: string): Promise<string> {
  try {
    return ` ${(await readFile(join(directory, ownerFile), "utf8")).trim()}`;
  } catch {
    // The other process is just starting and has not yet written its name.
    return "";
  }
}
