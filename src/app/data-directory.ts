import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import { makeDirectory, recordFormat } from "../disk/index.ts";

/**
 * Makes a data directory, and fails at once, with the reason, if nothing can be written there. Throws DiskError `unsupported`
 * if a newer version of Interlock has used it. Objects and journals have formats of their own.
 */
export async function makeDataDirectory(directory: string): Promise<void> {
  await makeWritable(directory);
  await recordFormat(directory, "interlock-data");
}

async function makeWritable(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
    await probe(directory);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    const reason = reasons[code] ?? "it cannot be written";
    throw new Error(`cannot write to ${directory} (${code}): ${reason}; name a writable directory with --data`, {
      cause: error,
    });
  }
}

/** Creates a file, because permissions are not sufficient: some file systems reject files of all users. */
async function probe(directory: string): Promise<void> {
  const file = join(directory, ".probe");
  try {
    await writeFile(file, "");
  } catch (error) {
    // The data on a full disk can still be read.
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
  await rm(file, { force: true });
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: "there is a file of that name",
  ENOTDIR: "a part of the path is a file",
  ENOENT: "no directory can be made there",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
};

/** Where the local engine keeps its runs. `directory` is the data directory of the process. */
export function localRunsFolder({ localDir }: Pick<Config["execution"], "localDir">, directory: string): string {
  return localDir ?? join(directory, "local");
}
