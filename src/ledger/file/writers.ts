import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type DiskView, makeDirectory, readOrCreate, viewDirectory } from "../../disk/index.ts";
import type { Random } from "../../time/index.ts";
import { LedgerError } from "../ledger.ts";
import { journalSegments } from "./chain.ts";

/** Of the directory of one writer. */
export const journalFormat = "interlock-journal";

/** The name of a writer is the name of its directory, and is in every row without being escaped. */
export function isWriterName(name: string): boolean {
  return /^[A-Za-z0-9][\w-]{0,62}$/.test(name);
}

/**
 * Returns the name of the writer whose data is beside `file`, which contains the name; it is created once. Processes that start
 * together get the same name, and the directory of that name then belongs to one of them.
 */
export async function ledgerWriter(file: string, random: Random): Promise<string> {
  await makeDirectory(dirname(file));
  const name = (await readOrCreate(file, () => `w-${random.id()}\n`)).trim();
  if (isWriterName(name)) return name;
  throw new LedgerError("damaged", `${file} contains no writer name; it is the name of a directory of the ledger`);
}

export interface Writer {
  readonly name: string;
  readonly view: DiskView;
}

/** All writers of the ledger in `directory`, in the order of their names. */
export async function listWriters(directory: string): Promise<Writer[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory() && isWriterName(entry.name)).map(({ name }) => name);
  return names.sort().map((name) => ({ name, view: viewDirectory(join(directory, name), journalFormat) }));
}

/** Writers whose journals in `directory` have a segment. An empty directory proves nothing about its writer. */
export async function journalWriters(directory: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, view } of await listWriters(directory)) {
    if (journalSegments.among(await view.names()).length > 0) names.push(name);
  }
  return names;
}
