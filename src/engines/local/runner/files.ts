import { rm } from "node:fs/promises";
import { makeDirectory, writeDurably } from "../../../disk/index.ts";

/** Port: the changes that the runner makes on disk. Each is whole or not there, and durable when it returns. */
export interface Files {
  write(path: string, content: string): Promise<void>;
  /** Only our user can read it. Harmless if it exists. */
  makeDirectory(path: string): Promise<void>;
  /** Removes it with all that is in it. Harmless if it does not exist. */
  remove(path: string): Promise<void>;
}

export function systemFiles(): Files {
  return {
    write: writeDurably,
    makeDirectory,
    remove: (path) => rm(path, { recursive: true, force: true }),
  };
}

/** Handles the error of a read: undefined if the file does not exist; any other error is thrown. */
export function ignoreAbsence(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
