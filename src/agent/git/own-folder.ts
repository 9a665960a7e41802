import { chmod, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { lockIfThere } from "../../disk/index.ts";
import type { Random } from "../../time/index.ts";

/** A folder that belongs to this process while it lives. */
export interface OwnFolder extends AsyncDisposable {
  readonly path: string;
}

const prefix = "workshop-";

/**
 * Creates a folder below `directory`, after removing the folders of dead processes. A kernel lock shows which process
 * lives, so an old folder on a shared volume is not removed by mistake.
 */
export async function ownFolder(directory: string, random: Random): Promise<OwnFolder> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    if (name.startsWith(prefix)) await removeIfDead(join(directory, name));
  }
  for (;;) {
    const folder = await claim(join(directory, prefix + random.id()));
    if (folder) return folder;
  }
}

async function removeIfDead(path: string): Promise<void> {
  await using handle = await lockIfThere(path);
  if (handle) await removeFolder(path);
}

/** Undefined if another process took the new folder for an abandoned one. */
async function claim(path: string): Promise<OwnFolder | undefined> {
  await mkdir(path, { mode: 0o700 });
  const handle = await lockIfThere(path);
  if (!handle) return undefined;
  return {
    path,
    async [Symbol.asyncDispose]() {
      await removeFolder(path);
      await handle.close();
    },
  };
}

/** Removes a folder and its contents, also those without permissions. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM" && code !== "ENOTEMPTY") throw error;
    await restoreAccess(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function restoreAccess(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await restoreAccess(join(folder, entry.name));
  }
}
