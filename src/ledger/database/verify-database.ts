import { Chain, type ChainItem, type ChainProblem } from "../file/chain.ts";
import { noHash, type Start } from "../file/row.ts";
import { examine, type LedgerReport, missingEnd, Witnesses, type WriterReport } from "../file/witnesses.ts";
import type { LedgerDatabase } from "./ledger-database.ts";

type Readable = Pick<LedgerDatabase, "place" | "writers" | "lines" | "events">;

/** Checks every chain in the database, the heads that writers recorded of one another, and the columns for queries. */
export async function verifyDatabase(database: Readable): Promise<LedgerReport> {
  const witnesses = new Witnesses();
  for await (const row of database.events({ type: "ledger.heads" })) {
    witnesses.add(row, `${describePlace(database, row.writer)} row ${row.seq}`);
  }
  const reports: WriterReport[] = [];
  const problems: ChainProblem[] = [];
  for (const writer of new Set([...(await database.writers()), ...witnesses.writers])) {
    const report = (problem: ChainProblem) => void problems.push(problem);
    const examined = await examine(writer, databaseChain(database, writer), { witnesses, report });
    if (examined.rows > 0) reports.push(examined);
    problems.push(...missingEnd(describePlace(database, writer), examined.head, witnesses.newest(writer, "database")));
  }
  return { writers: reports, problems };
}

/** A writer's rows in the database behind `after`, checked. */
export async function* databaseChain(
  database: Pick<Readable, "place" | "lines">,
  writer: string,
  after: Start = { seq: 0, hash: noHash },
): AsyncGenerator<ChainItem> {
  const chain = new Chain(writer, after);
  const file = describePlace(database, writer);
  yield* chain.startSegment({ name: "", number: after.seq + 1 }, file, { isNewest: false });
  for await (const { seq, line, isIndexedCorrectly } of database.lines(writer, after.seq)) {
    const bytes = Buffer.from(line);
    const items = [...chain.take({ bytes, number: seq, at: 0, isEnded: true })];
    yield* items;
    // A line that is no row has been reported already.
    if (isIndexedCorrectly || !items.some(({ kind }) => kind === "row")) continue;
    const message = `row ${seq} is stored with index columns that differ from its content, so queries do not find it`;
    yield { kind: "problem", problem: { kind: "changed", file, line: seq, message } };
  }
  yield* chain.end();
}

function describePlace({ place }: Pick<Readable, "place">, writer: string): string {
  return `${place}, writer ${writer}`;
}
