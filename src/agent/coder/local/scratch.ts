import { execFile } from "node:child_process";
import type { FileHandle } from "node:fs/promises";
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { assertOwned, lockIfThere } from "../../../disk/index.ts";
import type { UserId } from "../../../process/index.ts";
import { removeFolder } from "../../git/own-folder.ts";

const run = promisify(execFile);

/** A folder for one run. While this process lives, it holds a lock on `owner` in it; see `clearAbandoned`. */
export interface Scratch extends AsyncDisposable {
  readonly folder: string;
}

/** Creates a folder with a lock for the coder's processes, the request, and the coder's own folders. */
export async function createScratch(directory: string, request: string, user: UserId | undefined): Promise<Scratch> {
  // Its folders can be entered by name, but not listed.
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const { folder, owner } = await createFolder(directory);
  await writeFile(join(folder, "lock"), "", { mode: 0o600 });
  await writeFile(join(folder, "request.json"), request, { mode: 0o600 });
  for (const name of ["home", "tmp", "work"]) await mkdir(join(folder, name), { mode: 0o700 });
  if (user) {
    for (const name of ["home", "tmp", "work", "request.json"]) await chown(join(folder, name), user.uid, user.gid);
  }
  return {
    folder,
    async [Symbol.asyncDispose]() {
      await removeFolder(folder);
      await owner.close();
    },
  };
}

/** Another process that is starting may take the new folder for an abandoned one; then another is created. */
async function createFolder(directory: string): Promise<{ readonly folder: string; readonly owner: FileHandle }> {
  for (;;) {
    const folder = await mkdtemp(join(directory, "run-"));
    await chmod(folder, 0o711);
    await writeFile(join(folder, "owner"), "", { mode: 0o600 });
    const owner = await lockIfThere(join(folder, "owner"));
    if (owner) return { folder, owner };
  }
}

/** Clears the folders of dead processes. Their lock is held meanwhile, so no other process uses or clears them. */
export async function clearAbandoned(directory: string, clear: (folder: string) => Promise<void>): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!name.startsWith("run-")) continue;
    const folder = join(directory, name);
    // The contents of the folder select the processes that are killed.
    await assertOwned(folder);
    await using owner = await lockIfThere(join(folder, "owner"));
    if (owner) await clear(folder);
  }
}

/** Renames a folder until disposal. Both paths have to be on one volume. */
export async function renameTemporarily(from: string, to: string): Promise<AsyncDisposable> {
  await rmdir(to);
  await rename(from, to);
  return { [Symbol.asyncDispose]: () => rename(to, from) };
}

/** Gives the coder's user everything in the folder: links themselves, not their targets. */
export async function changeOwner({ uid, gid }: UserId, folder: string): Promise<void> {
  await run("chown", ["-hR", `${uid}:${gid}`, "--", folder]);
}
