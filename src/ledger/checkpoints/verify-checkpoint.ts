import { join } from "node:path";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { databaseChain } from "../database/verify-database.ts";
import type { ChainItem, ChainProblem } from "../file/chain.ts";
import { readWriter } from "../file/read-chain.ts";
import { listWriters } from "../file/writers.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { proveHead } from "./prove-head.ts";

/** Checks that the database has, unchanged, every row that a checkpoint covers. */
export async function verifyCheckpointInDatabase(
  { heads }: Checkpoint,
  database: Pick<LedgerDatabase, "place" | "lines">,
): Promise<readonly ChainProblem[]> {
  const problems: ChainProblem[] = [];
  for (const [writer, head] of Object.entries(heads)) {
    const place = `${database.place}, writer ${writer}`;
    problems.push(...(await proveHead(writer, databaseChain(database, writer), { head, place })));
  }
  return problems;
}

/** Checks that the journals in `directory` have, unchanged, every row that a checkpoint covers. */
export async function verifyCheckpointInJournals(
  { heads }: Checkpoint,
  directory: string,
): Promise<readonly ChainProblem[]> {
  const problems: ChainProblem[] = [];
  const writers = await listWriters(directory);
  for (const [name, head] of Object.entries(heads)) {
    const writer = writers.find((one) => one.name === name);
    const items: AsyncIterable<ChainItem> | readonly ChainItem[] = writer ? readWriter(writer.view, name) : [];
    problems.push(...(await proveHead(name, items, { head, place: join(directory, name) })));
  }
  return problems;
}
