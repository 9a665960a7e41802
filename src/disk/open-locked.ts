import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { ifMissing } from "./current-text.ts";
import { DiskError } from "./disk.ts";

/** open(2) of macOS and BSD can lock, but Node has no name for the flag. */
const lockOnOpen = 0x20;

/**
 * The file or directory, opened and locked for this process alone; undefined when another process has it. Closing the
 * handle unlocks it. The kernel drops the lock with the process, however that dies, and keeps it while the process is
 * merely stopped.
 */
export async function openLocked(path: string): Promise<FileHandle | undefined> {
  if (process.platform === "linux") return await openThenLock(path);
  if (process.platform === "win32") throw new DiskError("unsupported", "files cannot be locked on this platform");
  try {
    return await open(path, constants.O_RDONLY | constants.O_NONBLOCK | lockOnOpen);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return undefined;
    throw error;
  }
}

/**
 * Locks a file or folder that other processes remove while they hold its lock. Undefined if another process holds it, or if it
 * does not exist, or was removed before we got the lock.
 */
export async function lockIfThere(path: string): Promise<FileHandle | undefined> {
  const handle = await openLocked(path).catch(ifMissing(undefined));
  if (!handle) return undefined;
  const [there, ours] = await Promise.all([stat(path).catch(() => undefined), handle.stat()]);
  if (there?.ino === ours.ino) return handle;
  await handle.close();
  return undefined;
}

/**
 * Node cannot call flock(2), but a child can do it on a descriptor that it shares with us: the lock belongs to the open
 * file, not to the process that asked for it, so it stays ours when the child is gone.
 */
async function openThenLock(path: string): Promise<FileHandle | undefined> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    if (await lock(handle)) return handle;
  } catch (cause) {
    await handle.close();
    throw new DiskError("unsupported", `cannot lock ${path}: ${(cause as Error).message}`, { cause });
  }
  await handle.close();
  return undefined;
}

function lock({ fd }: FileHandle): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn("flock", ["-x", "-n", "3"], { stdio: ["ignore", "ignore", "pipe", fd] });
    let stderr = "";
    child.stderr?.on("data", (data) => {
      stderr += data;
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === "ENOENT";
      reject(isMissing ? new Error("the program flock is missing (Debian package util-linux)") : error);
    });
    child.once("close", (code) => {
      if (code === 0 || code === 1) resolve(code === 0);
      else reject(new Error(stderr.trim() || `flock ended with ${code}`));
    });
  });
}
