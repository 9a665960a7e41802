import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { lockIfThere } from "../../disk/index.ts";
import type { Random } from "../../time/index.ts";
import { removeFolder } from "./remove-folder.ts";

/** A folder that belongs to this process while it lives. */
export interface OwnFolder extends AsyncDisposable {
  readonly path: string;
}

const prefix = "workshop-";

/**
 * A new folder below `directory`. Those of processes that are gone are removed first: what tells is a lock of the
 * kernel, so that one on a shared volume that merely looks old is left alone.
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

/** Undefined when another process took the new folder for one that was left behind. */
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
