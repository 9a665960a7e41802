import { join } from "node:path";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import { databaseChain } from "../database/verify-database.ts";
import type { ChainItem, ChainProblem } from "../file/chain.ts";
import { readWriter } from "../file/read-chain.ts";
import type { Head } from "../file/row.ts";
import { listWriters } from "../file/writers.ts";
import type { Checkpoint } from "./checkpoint.ts";

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

/**
 * Checks that a writer's chain, recomputed from its first row, leads to the head that a checkpoint has. Then no row up to
 * it was changed, removed, added or moved: each hash covers the hash before it. Rows behind the head are not looked at.
 */
export async function proveHead(
  writer: string,
  items: AsyncIterable<ChainItem> | Iterable<ChainItem>,
  { head, place }: { readonly head: Head; readonly place: string },
): Promise<readonly ChainProblem[]> {
  let last = 0;
  for await (const item of items) {
    if (item.kind === "problem") return [item.problem];
    if (item.kind === "tail") break;
    const { row, file, line } = item;
    if (last === 0 && row.seq > 1) {
      const message = `rows 1 to ${row.seq - 1} of writer ${writer} are no longer here, so row ${head.seq} of the checkpoint cannot be proven; verify the database`;
      return [{ kind: "missing", file, line: line.number, message }];
    }
    last = row.seq;
    if (row.seq < head.seq) continue;
    if (row.seq === head.seq && row.hash === head.hash) return [];
    const message = `row ${head.seq} of writer ${writer} is not the one in the checkpoint: it or a row before it was changed`;
    return [{ kind: "changed", file, line: line.number, message }];
  }
  const message = `the checkpoint has row ${head.seq} of writer ${writer}, but the chain ends with row ${last}`;
  return [{ kind: "missing", file: place, line: last, message }];
}
