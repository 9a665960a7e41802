import { join } from "node:path";
import { type Clock, sleep } from "../../time/index.ts";
import type { LedgerDatabase } from "../database/ledger-database.ts";
import type { ChainProblem } from "../file/chain.ts";
import { readWriter } from "../file/read-chain.ts";
import { type Head, type LedgerRow, readRow } from "../file/row.ts";
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
  const waitBudget = new WaitBudget(clock, patienceMs);
  const writers = await listWriters(directory);
  for (const writer of writers) problems.push(...(await compareAgain(writer, database, waitBudget)));
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
async function compareAgain(
  writer: Writer,
  database: Readable,
  waitBudget: WaitBudget,
): Promise<readonly ChainProblem[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await compareWriter(writer, database, waitBudget);
    } catch (error) {
      const isRemoved = error instanceof LedgerError && error.code === "unavailable";
      if (!isRemoved || tries === maxTries) throw error;
    }
  }
}

async function compareWriter({ name, view }: Writer, database: Readable, waitBudget: WaitBudget) {
  const problems: ChainProblem[] = [];
  // Read before the journal: rows that both get meanwhile are no difference.
  const stored = await database.head(name);
  const rows = new StoredRows(name, database, waitBudget);
  const behind = new Behind();
  let last = 0;
  for await (const item of readWriter(view, name)) {
    // Problems of the journal itself are found by `verifyLedger`.
    if (item.kind !== "row") continue;
    const { row, file, line } = item;
    last = row.seq;
    const found = await rows.at(row.seq);
    behind.note(row.seq, found.kind);
    if (found.kind !== "row" || found.row.hash === row.hash) continue;
    const message = `row ${row.seq} is not the one in ${file} line ${line.number}: the journal has hash ${row.hash}, the database ${found.row.hash}`;
    problems.push({ kind: "changed", file: `${database.place}, writer ${name}`, line: row.seq, message });
  }
  return [...problems, ...behind.problems(name, view.directory, database.place), ...shorter(last, stored)];

  function shorter(last: number, stored: Head | undefined): readonly ChainProblem[] {
    if (!stored || stored.seq <= last) return [];
    const message = `the journal ends with row ${last}, but ${database.place} has row ${stored.seq}, which was in the journal first`;
    return [{ kind: "missing", file: view.directory, line: 0, message }];
  }
}

type OverlapRow =
  | { readonly kind: "row"; readonly row: LedgerRow }
  /** Another row follows, or the line is not a row: `verifyDatabase` finds that. */
  | { readonly kind: "gap" }
  /** The database ends before it. */
  | { readonly kind: "end" };

/** Rows of the journal behind the end of the database. */
class Behind {
  #first: number | undefined;
  #last = 0;

  note(seq: number, kind: OverlapRow["kind"]): void {
    if (kind === "end") this.#first ??= seq;
    else this.#first = undefined;
    this.#last = seq;
  }

  problems(writer: string, journal: string, place: string): readonly ChainProblem[] {
    if (this.#first === undefined) return [];
    const rows = this.#first === this.#last ? `row ${this.#last} is` : `rows ${this.#first} to ${this.#last} are`;
    const message = `${rows} in ${journal} and not in the database: removed from it, or not shipped yet (interlock ledger ship)`;
    return [{ kind: "missing", file: `${place}, writer ${writer}`, line: this.#first, message }];
  }
}

/** Rows of one writer in the database, asked for in the order of their numbers. */
class StoredRows {
  readonly #writer: string;
  readonly #database: Readable;
  readonly #waitBudget: WaitBudget;
  #lines: ReturnType<LedgerDatabase["lines"]> | undefined;
  #next: { readonly seq: number; readonly line: string } | undefined;

  constructor(writer: string, database: Readable, waitBudget: WaitBudget) {
    this.#writer = writer;
    this.#database = database;
    this.#waitBudget = waitBudget;
  }

  async at(seq: number): Promise<OverlapRow> {
    do {
      if (await this.#advance(seq)) return this.#found(seq);
      this.#lines = undefined;
    } while (await this.#waitBudget.wait());
    return { kind: "end" };
  }

  #found(seq: number): OverlapRow {
    if (this.#next?.seq !== seq) return { kind: "gap" };
    const row = readRow(Buffer.from(this.#next.line));
    return row ? { kind: "row", row } : { kind: "gap" };
  }

  /** Goes on to the first line of this number or a later one. False if there is none. */
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

/** A time that is spent once, however many rows are waited for. */
class WaitBudget {
  readonly #clock: Clock;
  readonly #untilMs: number;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#untilMs = clock.now() + ms;
  }

  /** False if the time is over. */
  async wait(): Promise<boolean> {
    if (this.#clock.now() >= this.#untilMs) return false;
    await sleep(this.#clock, pollMs);
    return true;
  }
}
