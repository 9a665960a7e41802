import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { ifMissing } from "../current-text.ts";
import { writeDurably } from "../write-durably.ts";

/** The operations of an upgrade on files: an argument, so that a test can let each of them fail. */
export type UpgradeFiles = typeof upgradeFiles;

export const upgradeFiles = {
  /** The entries of a directory; none if there is no such directory. */
  async list(directory: string) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(ifMissing([]));
    return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
  },
  /** Undefined if there is no such file. */
  read: (path: string) => readFile(path, "utf8").catch(ifMissing(undefined)),
  /** Replaces the whole file, durably. */
  write: (path: string, text: string) => writeDurably(path, text),
  makeDirectory: (path: string): Promise<void> => mkdir(path, { mode: 0o700 }),
  copyFile: (from: string, to: string) => copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE),
  move: (from: string, to: string) => rename(from, to),
  /** Removes a file, or a directory with everything in it. Does nothing if there is none. */
  remove: (path: string) => rm(path, { recursive: true, force: true }),
  /** Makes the content of a file, or the names in a directory, durable. */
  async sync(path: string) {
    await using handle = await open(path, constants.O_RDONLY);
    await handle.sync();
  },
};
