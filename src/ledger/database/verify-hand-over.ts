import { join } from "node:path";
import type { ChainProblem } from "../file/chain.ts";
import { readWriter } from "../file/read-chain.ts";
import { readRow } from "../file/row.ts";
import { listWriters } from "../file/writers.ts";
import type { LedgerDatabase } from "./ledger-database.ts";

/** Checks that the database has the row before the first of each journal in `directory`: all before it is nowhere else. */
export async function verifyHandOver(
  directory: string,
  database: Pick<LedgerDatabase, "place" | "lines">,
): Promise<readonly ChainProblem[]> {
  const problems: ChainProblem[] = [];
  for (const { name, view } of await listWriters(directory)) {
    for await (const item of readWriter(view, name)) {
      if (item.kind !== "row") continue;
      const before = item.row.seq - 1;
      if (before > 0 && (await readHash(database, name, before)) !== item.row.previous) {
        const message = `row ${before} of writer ${name} is not the one that ${join(directory, name)} continues from`;
        problems.push({ kind: "missing", file: database.place, line: before, message });
      }
      break;
    }
  }
  return problems;
}

async function readHash(
  database: Pick<LedgerDatabase, "lines">,
  writer: string,
  seq: number,
): Promise<string | undefined> {
  for await (const stored of database.lines(writer, seq - 1)) {
    return stored.seq === seq ? readRow(Buffer.from(stored.line))?.hash : undefined;
  }
  return undefined;
}
