import { dirname } from "node:path";
import { makeDirectory, readOrCreate } from "../../disk/index.ts";
import type { Random } from "../../time/index.ts";
import { LedgerError } from "../ledger.ts";
import { isWriterName } from "./writers.ts";

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
