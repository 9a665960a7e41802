import { join } from "node:path";
import type { DiskView } from "../../disk/index.ts";
import type { ChainProblem } from "./chain.ts";
import { readWriter } from "./read-chain.ts";
import { readLines } from "./read-lines.ts";
import { type Head, type LedgerRow, readRow } from "./row.ts";
import { segmentsAmong } from "./segments.ts";
import { type Writer, writersIn } from "./writers.ts";

export interface LedgerReport {
  readonly writers: readonly WriterReport[];
  /** Empty if every row is what was written and none is missing, as far as the ledger itself can tell. */
  readonly problems: readonly ChainProblem[];
}

export interface WriterReport {
  readonly writer: string;
  readonly rows: number;
  readonly head: Head | undefined;
  /** A write that is under way, or was cut short by a crash: it begins here. No problem, for nobody was told of it. */
  readonly incomplete: { readonly file: string; readonly line: number } | undefined;
}

/** Checks every chain in `directory`, and what writers recorded of one another. Reads everything twice. */
export async function verifyLedger(directory: string): Promise<LedgerReport> {
  const writers = await writersIn(directory);
  const recorded = await recordedHeads(writers);
  const reports: WriterReport[] = [];
  const problems: ChainProblem[] = [];
  for (const writer of writers) {
    const witnesses = recorded.get(writer.name) ?? new Map();
    recorded.delete(writer.name);
    reports.push(await verifyWriter(writer, witnesses, (problem) => problems.push(problem)));
  }
  for (const [name, witnesses] of recorded) problems.push(...missingHead(join(directory, name), witnesses));
  return { writers: reports, problems };
}

/** By number of the row: what others recorded about it. They need not agree, if the row was exchanged in between. */
type Witnesses = Map<number, Witness[]>;

interface Witness extends Head {
  /** Where it is recorded. */
  readonly place: string;
}

async function recordedHeads(writers: readonly Writer[]): Promise<Map<string, Witnesses>> {
  const recorded = new Map<string, Witnesses>();
  for (const { view } of writers) {
    for await (const { row, place } of headsRows(view)) {
      for (const [other, head] of headsIn(row)) {
        const witnesses: Witnesses = recorded.get(other) ?? new Map();
        witnesses.set(head.seq, [...(witnesses.get(head.seq) ?? []), { ...head, place }]);
        recorded.set(other, witnesses);
      }
    }
  }
  return recorded;
}

/** Hardly a line without heads has it, so hardly one is parsed in vain. */
const sign = Buffer.from(',"type":"ledger.heads",');

async function* headsRows(view: DiskView): AsyncGenerator<{ row: LedgerRow; place: string }> {
  for (const { name } of segmentsAmong(await view.names())) {
    const file = await view.open(name, "read");
    try {
      for await (const { bytes, number } of readLines(file)) {
        const row = bytes.includes(sign) ? readRow(bytes) : undefined;
        if (row?.type === "ledger.heads") yield { row, place: `${join(view.directory, name)} line ${number}` };
      }
    } finally {
      await file.close();
    }
  }
}

function headsIn({ facts }: LedgerRow): [string, Head][] {
  return Object.entries(facts["heads"] as unknown as Record<string, Head>);
}

async function verifyWriter(
  { name, view }: Writer,
  witnesses: Witnesses,
  report: (problem: ChainProblem) => void,
): Promise<WriterReport> {
  let rows = 0;
  let head: Head | undefined;
  let incomplete: WriterReport["incomplete"];
  for await (const item of readWriter(view, name)) {
    if (item.kind === "problem") report(item.problem);
    if (item.kind === "tail") incomplete = { file: item.file, line: item.line.number };
    if (item.kind !== "row") continue;

    const { row, file, line } = item;
    rows++;
    head = { seq: row.seq, hash: row.hash };
    const objector = witnesses.get(row.seq)?.find(({ hash }) => hash !== row.hash);
    witnesses.delete(row.seq);
    if (!objector) continue;
    const message = `row ${row.seq} is not the one recorded in ${objector.place}`;
    report({ kind: "changed", file, line: line.number, message });
  }
  for (const problem of missingHead(view.directory, witnesses)) report(problem);
  return { writer: name, rows, head, incomplete };
}

/** One for the newest says it all: when it was recorded, everything before it was there too. */
function missingHead(file: string, witnesses: Witnesses): ChainProblem[] {
  const newest = [...witnesses.values()]
    .flat()
    .sort((one, other) => one.seq - other.seq)
    .at(-1);
  if (!newest) return [];
  const message = `row ${newest.seq} is missing; it is recorded in ${newest.place}`;
  return [{ kind: "missing", file, line: 0, message }];
}
