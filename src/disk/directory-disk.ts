import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "../time/index.ts";
import { ifMissing } from "./current-text.ts";
import type { Disk, DiskFile, DiskView, OpenMode } from "./disk.ts";
import { isFormatRecorded, recordFormat } from "./format.ts";
import { lockDirectory } from "./lock-directory.ts";

/** A directory of the file system, created if it is missing, and locked for this process until it is closed. */
export async function openDirectory(path: string, clock: Clock): Promise<Disk> {
  const directory = resolve(path);
  await makeDirectory(directory);
  const handle = await lockDirectory(directory, clock);
  const at = (name: string) => join(directory, name);

  return {
    directory,
    names: () => readdir(directory),
    open: async (name, mode) => toDiskFile(await open(at(name), flags[mode], 0o600), mode),
    rename: (from, to) => rename(at(from), at(to)),
    remove: (name) => rm(at(name), { force: true }),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

/** Like `openDirectory`, with files of the format `format`: those of a newer version are refused (`unsupported`). */
export function directoryOpener(format: string): (path: string, clock: Clock) => Promise<Disk> {
  return async (path, clock) => {
    const disk = await openDirectory(path, clock);
    try {
      await recordFormat(disk.directory, format);
      return disk;
    } catch (error) {
      await disk.close();
      throw error;
    }
  };
}

/** An existing directory, for reading, regardless of its owner. `names` refuses files in a newer version of `format`. */
export function viewDirectory(path: string, format: string): DiskView {
  const directory = resolve(path);
  return {
    directory,
    async names() {
      await isFormatRecorded(directory, format);
      return readdir(directory);
    },
    open: async (name, mode) => toDiskFile(await open(join(directory, name), flags[mode]), mode),
  };
}

/** Creates a missing directory that only our user can read, durably: if its name were lost, so would be its content. */
export async function makeDirectory(directory: string): Promise<void> {
  // One after the other: below /proc, where nothing can be created, Node's recursive mkdir never returns.
  for (const path of await listMissing(resolve(directory))) {
    await createDirectory(path);
    await using parent = await open(dirname(path), constants.O_RDONLY);
    await parent.sync();
  }
}

/** The directories that have to be created for `directory`, parents first. */
async function listMissing(directory: string): Promise<readonly string[]> {
  const found = await stat(directory).catch(ifMissing(undefined));
  if (found?.isDirectory()) return [];
  // A file: creating the directory fails with the right error.
  if (found) return [directory];
  const parent = dirname(directory);
  return [...(parent === directory ? [] : await listMissing(parent)), directory];
}

async function createDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    const isThere = (await stat(path).catch(() => undefined))?.isDirectory();
    if (!isThere) throw error;
  }
}

/**
 * Saves a call to the thread pool for every flush. Only on Linux, where the flag is as good as a sync: on macOS a write with
 * O_DSYNC may stay in the drive's cache, and a datasync does not.
 */
const writeThrough = process.platform === "linux" ? constants.O_DSYNC : 0;

const flags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
  "create-durable": constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | writeThrough,
  durable: constants.O_RDWR | writeThrough,
};

function toDiskFile(handle: FileHandle, mode: OpenMode): DiskFile {
  const syncEach = !writeThrough && (mode === "durable" || mode === "create-durable");
  return {
    size: async () => (await handle.stat()).size,
    async read(into, position) {
      let done = 0;
      while (done < into.length) {
        const { bytesRead } = await handle.read(into, done, into.length - done, position + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return done;
    },
    async write(bytes, position) {
      // A disk that is nearly full accepts a part, and rejects only the rest.
      for (let done = 0; done < bytes.length; ) {
        done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
      }
      if (syncEach) await handle.datasync();
    },
    truncate: (size) => handle.truncate(size),
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}
