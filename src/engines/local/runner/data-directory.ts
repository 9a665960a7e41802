import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeDirectory, openLocked, writeDurably } from "../../../disk/index.ts";
import { type Clock, type Random, sleep } from "../../../time/index.ts";
import { ignoreAbsence } from "./files.ts";

export interface DataDirectory {
  readonly path: string;
  /** Created once, and unique for each directory. */
  readonly id: string;
  release(): Promise<void>;
}

export interface DataDirectoryOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Called once if another process has the directory. */
  readonly waiting: () => void;
}

/** The interval between two attempts to lock the directory. */
const retryMs = 1_000;

/** Opens the directory as soon as no other process has it. Rejects with the signal's reason if that aborts first. */
export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { clock, random, signal, waiting } = options;
  const path = resolve(options.path);
  if (!/^[\w./@+-]+$/.test(path)) {
    const rule = "use only letters, digits and . _ - @ + / in its path, which becomes part of scripts";
    throw new Error(`${path} cannot be the data directory: ${rule}`);
  }
  await makeDirectory(join(path, "runs"));
  let handle = await openLocked(path);
  if (!handle) waiting();
  while (!handle) {
    await sleep(clock, retryMs, signal);
    handle = await openLocked(path);
  }
  const locked = handle;
  try {
    await createPackageFile(path);
    return { path, id: await readOrCreateId(path, random), release: () => locked.close() };
  } catch (error) {
    await locked.close();
    throw error;
  }
}

/**
 * Creates a package.json: Node reads the module type of a script from the nearest package.json above it, so the meaning of a step
 * would depend on the program in whose folder the directory is. An existing file is kept.
 */
async function createPackageFile(path: string): Promise<void> {
  if (await readFile(join(path, "package.json"), "utf8").catch(ignoreAbsence)) return;
  await writeDurably(join(path, "package.json"), '{ "private": true }\n');
}

async function readOrCreateId(path: string, random: Random): Promise<string> {
  const file = join(path, "id");
  // An id that cannot be read is an error: under a new id, the runs of this directory would belong to another one.
  const known = await readFile(file, "utf8").catch(ignoreAbsence);
  if (known) return known;
  const id = random.id();
  await writeDurably(file, id);
  return id;
}
