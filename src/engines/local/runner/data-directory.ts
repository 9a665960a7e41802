import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeDirectory, openLocked, writeDurably } from "../../../disk/index.ts";
import { type Clock, type Random, sleep } from "../../../time/index.ts";
import { ignoreAbsence } from "./files.ts";

export interface DataDirectory {
  readonly path: string;
  /** Made once, and different for every directory. */
  readonly id: string;
  release(): Promise<void>;
}

export interface DataDirectoryOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Another process has it, and we wait. */
  readonly waiting: () => void;
}

/** Between one try to get the directory and the next. */
const tryAgainMs = 1_000;

/** The directory as soon as no other process has it. Rejects with the signal's reason if that comes first. */
export async function openDataDirectory(options: DataDirectoryOptions): Promise<DataDirectory> {
  const { clock, random, signal, waiting } = options;
  const path = resolve(options.path);
  if (!/^[\w./@+-]+$/.test(path)) {
    const rule = "letters, digits and . _ - @ + /";
    throw new Error(`${path} cannot be the data directory: scripts get its path as text, so use ${rule} alone`);
  }
  await makeDirectory(join(path, "runs"));
  let handle = await openLocked(path);
  if (!handle) waiting();
  while (!handle) {
    await sleep(clock, tryAgainMs, signal);
    handle = await openLocked(path);
  }
  const locked = handle;
  try {
    await endPackage(path);
    return { path, id: await readOrCreateId(path, random), release: () => locked.close() };
  } catch (error) {
    await locked.close();
    throw error;
  }
}

/**
 * Ends the package that the directory may be part of: Node takes the module type of a script from the nearest package.json
 * above it, so a step would mean something else in the folder of another program. An existing file stays.
 */
async function endPackage(path: string): Promise<void> {
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
