import { constants } from "node:fs";
import { copyFile, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { writeDurably } from "../write-durably.ts";

/** Port: the operations of an upgrade on files, so that a test can let each of them fail. */
export interface UpgradeFiles {
  /** Nothing if there is no such directory. */
  list(directory: string): Promise<readonly DirectoryEntry[]>;
  /** Undefined if there is no such file. */
  read(path: string): Promise<string | undefined>;
  /** Replaces the file whole, durably. */
  write(path: string, text: string): Promise<void>;
  makeDirectory(path: string): Promise<void>;
  copyFile(from: string, to: string): Promise<void>;
  move(from: string, to: string): Promise<void>;
  /** A file, or a directory with everything in it. Does nothing if there is none. */
  remove(path: string): Promise<void>;
  /** Makes the content of a file, or the names in a directory, durable. */
  sync(path: string): Promise<void>;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

export const upgradeFiles: UpgradeFiles = {
  async list(directory) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(ifMissing([]));
    return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
  },
  read: (path) => readFile(path, "utf8").catch(ifMissing(undefined)),
  write: writeDurably,
  makeDirectory: (path) => mkdir(path, { mode: 0o700 }),
  copyFile: (from, to) => copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE),
  move: rename,
  remove: (path) => rm(path, { recursive: true, force: true }),
  async sync(path) {
    await using handle = await open(path, constants.O_RDONLY);
    await handle.sync();
  },
};

function ifMissing<T>(instead: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return instead;
    throw error;
  };
}
