import { spawnSync } from "node:child_process";
import { constants } from "node:fs";
import { type FileHandle, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../time/index.ts";
import { DiskError } from "./disk-error.ts";

/** Says who has the directory. For people: the lock itself is the kernel's. */
const ownerFile = "owner";

/** open(2) of macOS and BSD can lock, but Node has no name for the flag. */
const lockOnOpen = 0x20;

/**
 * The directory, opened and locked for this process alone; closing the handle unlocks it. The kernel drops the lock
 * with the process, however that dies, and keeps it while the process is merely stopped. It is on the directory and
 * not on a file in it, because a lock file can be deleted under a living owner.
 */
export async function lockDirectory(directory: string, clock: Clock): Promise<FileHandle> {
  const handle = await openLocked(directory);
  if (!handle) throw new DiskError("in-use", `${directory} is in use${await ownerOf(directory)}`);
  const since = new Date(clock.wallMs()).toISOString();
  // A full disk must not keep anybody from opening it: there is still everything to read.
  await writeFile(join(directory, ownerFile), `by pid ${process.pid} since ${since}\n`).catch(() => {});
  return handle;
}

/** Undefined when somebody else has it. */
async function openLocked(directory: string): Promise<FileHandle | undefined> {
  if (process.platform === "linux") return await openThenLock(directory);
  if (process.platform === "win32") throw new DiskError("unsupported", "there is no way to lock a directory here");
  try {
    return await open(directory, constants.O_RDONLY | constants.O_NONBLOCK | lockOnOpen);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}

/**
 * Node cannot call flock(2), but a child can do it on a descriptor that it shares with us: the lock belongs to the open
 * file, not to the process that asked for it, so it stays ours when the child is gone.
 */
async function openThenLock(directory: string): Promise<FileHandle | undefined> {
  const handle = await open(directory, constants.O_RDONLY);
  const { status, error, stderr } = spawnSync("flock", ["-x", "-n", "3"], {
    stdio: ["ignore", "ignore", "pipe", handle.fd],
    encoding: "utf8",
  });
  if (status === 0) return handle;

  await handle.close();
  if (status === 1) return undefined;
  const why = error ? "the program flock is missing (Debian package util-linux)" : stderr.trim();
  throw new DiskError("unsupported", `cannot lock ${directory}: ${why}`, { cause: error });
}

async function ownerOf(directory: string): Promise<string> {
  try {
    return ` ${(await readFile(join(directory, ownerFile), "utf8")).trim()}`;
  } catch {
    // The other process is just starting and has not yet said who it is.
    return "";
  }
}
