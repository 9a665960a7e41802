import { join } from "node:path";
import { type DiskView, readLines } from "../../disk/index.ts";
import { LedgerError } from "../ledger.ts";
import { journalSegments } from "./chain.ts";
import { type LedgerRow, readRow } from "./row.ts";

/** A row of the journal: its line without the newline, and its content. */
export interface WrittenRow {
  readonly line: string;
  readonly row: LedgerRow;
}

export interface Portion {
  /** The last row that may be taken: those behind it may not be durable yet. */
  readonly until: number;
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** Reads the rows of a journal in portions, while it grows. Continues where the last portion ended. */
export class JournalReader {
  readonly #view: DiskView;
  /** Behind the row number `seq`. */
  #position = { name: "", offset: 0, seq: 0 };

  constructor(view: DiskView) {
    this.#view = view;
  }

  /** Rows behind number `after`, at least one unless there is none. Throws `damaged` where they do not follow. */
  async read(after: number, { until, maxRows, maxBytes }: Portion): Promise<readonly WrittenRow[]> {
    const rows: WrittenRow[] = [];
    if (after >= until) return rows;
    let bytes = 0;
    for await (const written of this.#rowsAfter(after)) {
      rows.push(written);
      bytes += written.line.length;
      if (written.row.seq === until || rows.length >= maxRows || bytes >= maxBytes) return rows;
    }
    throw this.#missing((rows.at(-1)?.row.seq ?? after) + 1);
  }

  async *#rowsAfter(after: number): AsyncGenerator<WrittenRow> {
    const segments = journalSegments.among(await this.#view.names());
    const start = Math.max(
      0,
      segments.findLastIndex(({ number }) => number <= after + 1),
    );
    let passed = after;
    for (const { name, number } of segments.slice(start)) {
      const isKnown = this.#position.name === name && this.#position.seq === passed;
      let { offset, seq } = isKnown ? this.#position : { offset: 0, seq: number - 1 };
      if (seq > passed) throw this.#missing(passed + 1);
      const file = await this.#view.open(name, "read");
      try {
        for await (const { bytes, at, isEnded } of readLines(file, offset)) {
          const row = isEnded ? readRow(bytes) : undefined;
          if (row?.seq !== seq + 1) throw this.#damaged(name, seq + 1);
          offset = at + bytes.length + 1;
          seq = row.seq;
          this.#position = { name, offset, seq };
          if (seq <= after) continue;
          passed = seq;
          yield { line: bytes.toString(), row };
        }
      } finally {
        await file.close();
      }
    }
  }

  #missing(seq: number): LedgerError {
    return new LedgerError("damaged", `row ${seq} is not in the journal in ${this.#view.directory}`);
  }

  #damaged(name: string, seq: number): LedgerError {
    const path = join(this.#view.directory, name);
    return new LedgerError("damaged", `${path} is damaged: row ${seq} was changed`);
  }
}
