import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a folder and its contents, also those without permissions. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM" && code !== "ENOTEMPTY") throw error;
    await takeBack(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function takeBack(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await takeBack(join(folder, entry.name));
  }
}
