import { rm } from "node:fs/promises";
import { makeDirectory, writeDurably } from "../../../disk/index.ts";

/** Port: the runner's changes on disk. Each is atomic, and durable when it returns. */
export interface Files {
  write(path: string, content: string): Promise<void>;
  /** Creates a directory that only our user can read, unless it exists. */
  makeDirectory(path: string): Promise<void>;
  /** Removes a file or a directory with its content, if it exists. */
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
