import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DiskError } from "./disk.ts";
import { writeDurably } from "./write-durably.ts";

/** The file in a directory that has the format of the others. */
const formatFile = "format";

/**
 * The version of every format, and of a directory in which none is recorded. A format gets another version when this version of
 * Interlock would misread its files.
 */
const version = 1;

/** Records the format `name` of a directory. Throws DiskError `unsupported` if a newer version of Interlock wrote its files. */
export async function recordFormat(directory: string, name: string): Promise<void> {
  if (await isFormatRecorded(directory, name)) return;
  try {
    await writeDurably(join(directory, formatFile), `${JSON.stringify({ format: `${name}/${version}` })}\n`);
  } catch (error) {
    // On a full disk there is still everything to read.
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

/** Throws DiskError `unsupported` if a newer version of Interlock wrote the files, and `damaged` for a record that is not ours. */
export async function isFormatRecorded(directory: string, name: string): Promise<boolean> {
  const path = join(directory, formatFile);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return false;
  const [, foundName, found] = /^\{"format":"([^"]+)\/([1-9]\d*)"/.exec(text) ?? [];
  if (foundName !== name) {
    throw new DiskError("damaged", `${path} does not name a version of ${name}; restore it from a backup`);
  }
  if (Number(found) === version) return true;
  throw new DiskError(
    "unsupported",
    `${directory} is in format ${found} of ${name}, written by a newer version of Interlock; this version reads format ` +
      `${version}: start that version again, or use another directory`,
  );
}
