import type { FileHandle } from "node:fs/promises";
import { stat } from "node:fs/promises";
import { openLocked } from "./open-locked.ts";

/**
 * Locks a file or folder that others remove while they hold its lock. Undefined: another process holds it, or it is gone,
 * also if it went while we waited for the lock.
 */
export async function lockIfThere(path: string): Promise<FileHandle | undefined> {
  const handle = await openLocked(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!handle) return undefined;
  const [there, ours] = await Promise.all([stat(path).catch(() => undefined), handle.stat()]);
  if (there?.ino === ours.ino) return handle;
  await handle.close();
  return undefined;
}
