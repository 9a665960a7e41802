import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createDurably, makeDirectory } from "../../disk/index.ts";
import type { Random } from "../../time/index.ts";
import { LedgerError } from "../ledger.ts";
import { isWriterName } from "./writers.ts";

/**
 * The name of the writer whose data lies beside `file`: made once, then kept in it. Processes that start together get
 * the same name; the directory of that name then belongs to one of them.
 */
export async function ledgerWriter(file: string, random: Random): Promise<string> {
  const name = (await readName(file)) ?? (await make(file, random));
  if (isWriterName(name)) return name;
  throw new LedgerError("damaged", `${file} contains no writer name; it is the name of a directory of the ledger`);
}

async function readName(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function make(file: string, random: Random): Promise<string> {
  await makeDirectory(dirname(file));
  await createDurably(file, `w-${random.id()}\n`).catch((error: NodeJS.ErrnoException) => {
    // Another process has just made it.
    if (error.code !== "EEXIST") throw error;
  });
  return (await readName(file)) ?? "";
}
