import { join } from "node:path";
import { type Clock, sleep } from "../../time/index.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import type { ChainProblem } from "../file/chain.ts";
import { readWriter } from "../file/read-chain.ts";
import { type LedgerRow, readRow } from "../file/row.ts";
import { listWriters, type Writer } from "../file/writers.ts";
import { LedgerError } from "../ledger.ts";

type Readable = Pick<LedgerDatabase, "place" | "writers" | "head" | "lines">;

export interface OverlapOptions {
  readonly clock: Clock;
  /** How long rows of the journals may take to reach the database, all writers together. */
  readonly patienceMs: number;
  /** The database belongs to the journals in this directory alone, so that each of its writers has a journal here. */
  readonly expectsJournals: boolean;
}

/**
 * Compares the journals in `directory` with the database, row by row. A row is in its journal before it is in the
 * database, and arrives there unchanged. So every row of a journal must be in the database, after a moment, with the same
 * hash; and the database has no row behind the end of a journal.
 */
export async function verifyOverlap(
  directory: string,
  database: Readable,
  { clock, patienceMs, expectsJournals }: OverlapOptions,
): Promise<readonly ChainProblem[]> {
  const problems: ChainProblem[] = [];
  const wait = waitForRows(clock, patienceMs);
  const writers = await listWriters(directory);
  for (const writer of writers) problems.push(...(await compareAgain(writer, database, wait)));
  if (!expectsJournals) return problems;

  for (const writer of await database.writers()) {
    if (writers.some(({ name }) => name === writer)) continue;
    const message = `writer ${writer} has rows in ${database.place}, but no journal here: the journal was removed, or the writer was invented`;
    problems.push({ kind: "missing", file: join(directory, writer), line: 0, message });
  }
  return problems;
}

const maxTries = 3;

/** A segment may be removed while it is read, because the database has its rows. */
async function compareAgain(writer: Writer, database: Readable, wait: WaitForRows): Promise<readonly ChainProblem[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await compareWriter(writer, database, wait);
    } catch (error) {
      const isRemoved = error instanceof LedgerError && error.code === "unavailable";
      if (!isRemoved || tries === maxTries) throw error;
    }
  }
}

async function compareWriter({ name, view }: Writer, database: Readable, wait: WaitForRows) {
  const problems: ChainProblem[] = [];
  const place = `${database.place}, writer ${name}`;
  // Read before the journal: rows that both get meanwhile are no difference.
  const stored = await database.head(name);
  const rows = new StoredRows(name, database, wait);
  let last = 0;
  // The first of the rows at the end of the journal that the database lacks.
  let firstMissing: number | undefined;
  for await (const item of readWriter(view, name)) {
    // Problems of the journal itself are found by `verifyLedger`.
    if (item.kind !== "row") continue;
    const { row, file, line } = item;
    last = row.seq;
    const found = await rows.at(row.seq);
    if (found.kind === "end") firstMissing ??= row.seq;
    else firstMissing = undefined;
    if (found.kind !== "row" || found.row.hash === row.hash) continue;
    const message = `row ${row.seq} is not the one in ${file} line ${line.number}: the journal has hash ${row.hash}, the database ${found.row.hash}`;
    problems.push({ kind: "changed", file: place, line: row.seq, message });
  }
  if (firstMissing !== undefined) {
    const missing = firstMissing === last ? `row ${last} is` : `rows ${firstMissing} to ${last} are`;
    const message = `${missing} in ${view.directory} and not in the database: removed from it, or not shipped yet (interlock ledger ship)`;
    problems.push({ kind: "missing", file: place, line: firstMissing, message });
  }
  if (stored && stored.seq > last) {
    const message = `the journal ends with row ${last}, but ${database.place} has row ${stored.seq}, which was in the journal first`;
    problems.push({ kind: "missing", file: view.directory, line: 0, message });
  }
  return problems;
}

type OverlapRow =
  | { readonly kind: "row"; readonly row: LedgerRow }
  /** Another row follows, or the line is not a row: `verifyDatabase` finds that. */
  | { readonly kind: "gap" }
  /** The database ends before it. */
  | { readonly kind: "end" };

/** Rows of one writer in the database, read in the order of their numbers. */
class StoredRows {
  readonly #writer: string;
  readonly #database: Readable;
  readonly #wait: WaitForRows;
  #lines: ReturnType<LedgerDatabase["lines"]> | undefined;
  #next: { readonly seq: number; readonly line: string } | undefined;

  constructor(writer: string, database: Readable, wait: WaitForRows) {
    this.#writer = writer;
    this.#database = database;
    this.#wait = wait;
  }

  async at(seq: number): Promise<OverlapRow> {
    do {
      if (await this.#advance(seq)) return this.#found(seq);
      this.#lines = undefined;
    } while (await this.#wait());
    return { kind: "end" };
  }

  #found(seq: number): OverlapRow {
    if (this.#next?.seq !== seq) return { kind: "gap" };
    const row = readRow(Buffer.from(this.#next.line));
    return row ? { kind: "row", row } : { kind: "gap" };
  }

  /** Reads up to the first line with this number or a larger one. False if there is none. */
  async #advance(seq: number): Promise<boolean> {
    while (!this.#next || this.#next.seq < seq) {
      this.#lines ??= this.#database.lines(this.#writer, seq - 1);
      const { done, value } = await this.#lines.next();
      if (done) return false;
      this.#next = value;
    }
    return true;
  }
}

const pollMs = 100;

/** Waits a moment for more rows. Resolves to false once the time for all rows together has passed. */
type WaitForRows = () => Promise<boolean>;

function waitForRows(clock: Clock, patienceMs: number): WaitForRows {
  const untilMs = clock.now() + patienceMs;
  return async () => {
    if (clock.now() >= untilMs) return false;
    await sleep(clock, pollMs);
    return true;
  };
}
