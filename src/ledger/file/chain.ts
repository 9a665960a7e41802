import { type Line, type Segment, segmentNames } from "../../disk/index.ts";
import { type LedgerRow, noHash, readRow, type Start } from "./row.ts";

/**
 * - `changed`: a line was changed after it was written
 * - `missing`: rows that must have been there are not
 * - `unchained`: a row does not follow the one before it: one of them was exchanged, or rows were reordered
 * - `contradicted`: two writers claim one event with different content
 */
export type ProblemKind = "changed" | "missing" | "unchained" | "contradicted";

/** Something that is wrong, and where. */
export interface ChainProblem {
  readonly kind: ProblemKind;
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export type ChainItem =
  | { readonly kind: "row"; readonly row: LedgerRow; readonly line: Line; readonly file: string }
  | { readonly kind: "problem"; readonly problem: ChainProblem }
  /** The last write was cut short: it begins here and was never acknowledged. */
  | { readonly kind: "tail"; readonly line: Line; readonly file: string };

/**
 * Checks the lines of one writer, in order. After a problem it continues, to find the next one.
 *
 * A write that was cut short is the last one. It may hold many lines, and parts of it may have reached the disk in any
 * order: a whole line can follow a torn one. The rows behind it distinguish it from damage: a row that records the torn
 * row as durable. And bytes that never reached a disk are missing or zero, not different.
 */
export class Chain {
  readonly #writer: string;
  #next: { readonly seq: number; readonly previous: string | undefined };
  #torn: { readonly seq: number; readonly line: Line } | undefined;
  #file = "";
  #isNewest = false;

  constructor(writer: string, after: Start) {
    this.#writer = writer;
    this.#next = { seq: after.seq + 1, previous: after.hash };
  }

  *startSegment(
    { number: first }: Segment,
    file: string,
    { isNewest }: { readonly isNewest: boolean },
  ): Generator<ChainItem> {
    this.#file = file;
    this.#isNewest = isNewest;
    const { seq } = this.#next;
    if (first === seq) return;
    yield this.#problem(
      "missing",
      1,
      first > seq ? missingText(seq, first) : `it begins with row ${first}, not with ${seq}`,
    );
    this.#next = { seq: first, previous: undefined };
  }

  *take(line: Line): Generator<ChainItem> {
    const row = readRow(line.bytes);
    if (this.#torn) {
      if (!row || row.synced < this.#torn.seq) return;
      yield this.#changed(this.#torn.line);
      this.#torn = undefined;
      this.#next = { seq: row.seq, previous: undefined };
    }
    if (row && line.isEnded && row.writer === this.#writer) yield* this.#takeRow(row, line);
    else if (this.#isNewest && canBeTorn(line)) this.#torn = { seq: this.#next.seq, line };
    else {
      yield this.#changed(line);
      this.#next = { seq: this.#next.seq + 1, previous: undefined };
    }
  }

  *end(): Generator<ChainItem> {
    if (this.#torn) yield { kind: "tail", line: this.#torn.line, file: this.#file };
  }

  *#takeRow(row: LedgerRow, line: Line): Generator<ChainItem> {
    const { seq, previous } = this.#next;
    if (row.seq > seq) yield this.#problem("missing", line.number, missingText(seq, row.seq));
    else if (row.seq < seq)
      yield this.#problem("unchained", line.number, `row ${row.seq} is at the position of row ${seq}`);
    else if (previous !== undefined && row.previous !== previous) {
      yield this.#problem("unchained", line.number, `row ${seq} does not follow the row before it`);
    }
    yield { kind: "row", row, line, file: this.#file };
    this.#next = { seq: row.seq + 1, previous: row.hash };
  }

  #changed(line: Line): ChainItem {
    return this.#problem("changed", line.number, `row ${this.#next.seq} was changed`);
  }

  #problem(kind: ProblemKind, line: number, message: string): ChainItem {
    return { kind: "problem", problem: { kind, file: this.#file, line, message } };
  }
}

function canBeTorn({ bytes, isEnded }: Line): boolean {
  if (bytes.includes(0)) return true;
  // A whole row with something else in the place of its newline is one that was changed.
  return !isEnded && readRow(bytes.subarray(0, -1)) === undefined;
}

function missingText(from: number, before: number): string {
  return before - from === 1 ? `row ${from} is missing` : `rows ${from} to ${before - 1} are missing`;
}

/** The segments of a journal. The number of each is that of its first row, which has at most sixteen digits. */
export const journalSegments = segmentNames({ digits: 16, suffix: ".jsonl" });

/** The start of the journal: the first row ever or, when the database has the earlier rows, a later one. */
export function firstStart(segments: readonly Segment[]): Start {
  const first = segments[0]?.number ?? 1;
  return first === 1 ? { seq: 0, hash: noHash } : { seq: first - 1, hash: undefined };
}
