import { execFile } from "node:child_process";
import type { FileHandle } from "node:fs/promises";
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { assertOwned, lockIfThere } from "../../../disk/index.ts";
import type { UserId } from "../../../process/index.ts";

const run = promisify(execFile);

/** A folder for one run. While it is there and we are alive, `owner` in it is locked; see `clearAbandoned`. */
export interface Scratch extends AsyncDisposable {
  readonly folder: string;
}

/** A new folder with a lock for the agent's processes, the request, and what is the agent's own. */
export async function makeScratch(directory: string, request: string, user: UserId | undefined): Promise<Scratch> {
  // Its folders can be entered by whoever knows their names, and not be listed.
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const { folder, owner } = await newFolder(directory);
  await writeFile(join(folder, "lock"), "", { mode: 0o600 });
  await writeFile(join(folder, "request.json"), request, { mode: 0o600 });
  for (const name of ["home", "tmp", "work"]) await mkdir(join(folder, name), { mode: 0o700 });
  if (user) {
    for (const name of ["home", "tmp", "work", "request.json"]) await chown(join(folder, name), user.uid, user.gid);
  }
  return {
    folder,
    async [Symbol.asyncDispose]() {
      await removeScratch(folder);
      await owner.close();
    },
  };
}

/** Another process that is just starting may take it for one that was left behind; then there is another one. */
async function newFolder(directory: string): Promise<{ readonly folder: string; readonly owner: FileHandle }> {
  for (;;) {
    const folder = await mkdtemp(join(directory, "run-"));
    await chmod(folder, 0o711);
    await writeFile(join(folder, "owner"), "", { mode: 0o600 });
    const owner = await lockIfThere(join(folder, "owner"));
    if (owner) return { folder, owner };
  }
}

/** Clears folders of runs whose process is gone. Nobody else does, or uses one, meanwhile. */
export async function clearAbandoned(directory: string, clear: (folder: string) => Promise<void>): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!name.startsWith("run-")) continue;
    const folder = join(directory, name);
    // What is in it decides which processes are ended.
    await assertOwned(folder);
    await using owner = await lockIfThere(join(folder, "owner"));
    if (owner) await clear(folder);
  }
}

export async function removeScratch(folder: string): Promise<void> {
  // The agent may have left folders that not even we may enter, unless we are root.
  await run("chmod", ["-R", "u+rwX", "--", folder]).catch(() => {});
  await rm(folder, { recursive: true, force: true });
}

/** Moves a folder to another name until it is disposed of. Both have to be on one volume. */
export async function lend(from: string, to: string): Promise<AsyncDisposable> {
  await rmdir(to);
  await rename(from, to);
  return { [Symbol.asyncDispose]: () => rename(to, from) };
}

/** Gives the agent's user everything in the folder, links themselves and not what they point to. */
export async function giveTo({ uid, gid }: UserId, folder: string): Promise<void> {
  await run("chown", ["-hR", `${uid}:${gid}`, "--", folder]);
}
