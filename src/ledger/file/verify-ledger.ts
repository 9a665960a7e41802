import { join } from "node:path";
import { type DiskView, readLines } from "../../disk/index.ts";
import { type ChainProblem, journalSegments } from "./chain.ts";
import { readWriter } from "./read-chain.ts";
import { type LedgerRow, readRow } from "./row.ts";
import { examine, type LedgerReport, missingEnd, Witnesses, type WriterReport } from "./witnesses.ts";
import { listWriters, type Writer } from "./writers.ts";

/**
 * Checks every chain in the journals of `directory`, and what writers recorded of one another. Reads everything twice.
 * Rows that the database has may be gone from the front of a journal.
 */
export async function verifyLedger(directory: string): Promise<LedgerReport> {
  const writers = await listWriters(directory);
  const witnesses = await recordedHeads(writers);
  const reports: WriterReport[] = [];
  const problems: ChainProblem[] = [];
  for (const { name, view } of writers) {
    const report = (problem: ChainProblem) => void problems.push(problem);
    const examined = await examine(name, readWriter(view, name), { witnesses, report });
    reports.push(examined);
    problems.push(...missingEnd(view.directory, examined.head, witnesses.newest(name, "journal")));
  }
  for (const name of witnesses.writers.filter((name) => !writers.some((writer) => writer.name === name))) {
    problems.push(...missingEnd(join(directory, name), undefined, witnesses.newest(name, "journal")));
  }
  return { writers: reports, problems };
}

async function recordedHeads(writers: readonly Writer[]): Promise<Witnesses> {
  const witnesses = new Witnesses();
  for (const { view } of writers) {
    for await (const { row, place } of headsRows(view)) witnesses.add(row, place);
  }
  return witnesses;
}

/** Searched in each line before it is parsed, because few lines have heads. */
const headsMarker = Buffer.from(',"type":"ledger.heads",');

async function* headsRows(view: DiskView): AsyncGenerator<{ row: LedgerRow; place: string }> {
  for (const { name } of journalSegments.among(await view.names())) {
    const file = await view.open(name, "read");
    try {
      for await (const { bytes, number } of readLines(file)) {
        const row = bytes.includes(headsMarker) ? readRow(bytes) : undefined;
        if (row?.type === "ledger.heads") yield { row, place: `${join(view.directory, name)} line ${number}` };
      }
    } finally {
      await file.close();
    }
  }
}
