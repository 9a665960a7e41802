import { join } from "node:path";
import type { DiskView } from "../../disk/index.ts";
import { LedgerError } from "../ledger.ts";
import { readLines } from "./read-lines.ts";
import { type LedgerRow, readRow } from "./row.ts";
import { type Segment, segmentsAmong } from "./segments.ts";

/** A row as its writer wrote it: the line of the journal, newline left off, and what it says. */
export interface WrittenRow {
  readonly line: string;
  readonly row: LedgerRow;
}

export interface Portion {
  /** The last row that may be taken: those behind it may not be durable yet. */
  readonly until: number;
  readonly mostRows: number;
  readonly mostBytes: number;
}

/** Where the next row begins. */
interface Position {
  readonly segment: Segment;
  readonly offset: number;
  /** The number of the row that stands before it. */
  readonly seq: number;
}

/** Reads the rows of a journal in portions, while it grows. Goes on where the last portion ended. */
export class JournalReader {
  readonly #view: DiskView;
  #position: Position | undefined;

  constructor(view: DiskView) {
    this.#view = view;
  }

  /** Rows behind number `after`, at least one unless there is none. Throws `damaged` where they do not follow. */
  async read(after: number, portion: Portion): Promise<readonly WrittenRow[]> {
    const rows: WrittenRow[] = [];
    if (after >= portion.until) return rows;
    let position = await this.#goOn(after);
    while (!isEnough(rows, portion)) {
      const before = rows.length;
      position = await this.#readSegment(position, after, portion, rows);
      const next = (rows.at(-1)?.row.seq ?? after) + 1;
      if (isEnough(rows, portion) || next > portion.until) break;
      if (rows.length === before && position.segment.first === next) throw this.#missing(next);
      position = await this.#find(next);
    }
    this.#position = position;
    return rows;
  }

  /** Where the last portion ended; unless its segment ended there too, and may have been removed since. */
  async #goOn(after: number): Promise<Position> {
    const found = await this.#find(after + 1);
    const last = this.#position;
    return last?.seq === after && last.segment.name === found.segment.name ? last : found;
  }

  async #readSegment(from: Position, after: number, portion: Portion, rows: WrittenRow[]): Promise<Position> {
    const { segment } = from;
    let { offset, seq } = from;
    const file = await this.#view.open(segment.name, "read");
    try {
      for await (const { bytes, at, isEnded } of readLines(file, offset)) {
        const row = isEnded ? readRow(bytes) : undefined;
        if (row?.seq !== seq + 1) throw this.#damaged(segment, seq + 1);
        offset = at + bytes.length + 1;
        seq = row.seq;
        if (seq > after) rows.push({ line: bytes.toString(), row });
        if (seq === portion.until || isEnough(rows, portion)) break;
      }
    } finally {
      await file.close();
    }
    return { segment, offset, seq };
  }

  async #find(seq: number): Promise<Position> {
    const segment = segmentsAmong(await this.#view.names()).findLast(({ first }) => first <= seq);
    if (!segment) throw this.#missing(seq);
    return { segment, offset: 0, seq: segment.first - 1 };
  }

  #missing(seq: number): LedgerError {
    return new LedgerError("damaged", `row ${seq} is not in the journal in ${this.#view.directory}`);
  }

  #damaged({ name }: Segment, seq: number): LedgerError {
    return new LedgerError(
      "damaged",
      `${join(this.#view.directory, name)} is damaged: row ${seq} is not what was written`,
    );
  }
}

function isEnough(rows: readonly WrittenRow[], { mostRows, mostBytes }: Portion): boolean {
  if (rows.length >= mostRows) return true;
  let bytes = 0;
  for (const { line } of rows) bytes += line.length;
  return bytes >= mostBytes;
}
