import { type Disk, GroupCommit } from "../../disk/index.ts";
import type { Clock } from "../../time/index.ts";
import { LedgerError } from "../ledger.ts";
import type { LedgerObserver } from "../observe-ledger.ts";
import { JournalReader, type Portion, type WrittenRow } from "./journal-reader.ts";
import type { JournalLog } from "./recover.ts";
import { type Head, maxBatchBytes, overheadBytes, rowLine } from "./row.ts";

export interface JournalLimits {
  /** A segment of this size is followed by a new one. */
  readonly segmentBytes: number;
  /** Max size of the rows that wait for the disk. Further rows are rejected: memory is not durable. */
  readonly waitingBytes: number;
  /** Max size of all segments together. Further rows are rejected until the database has some of them. */
  readonly journalBytes: number;
}

/** After a failed write, events are rejected for this time: a full disk stays full for a while. */
const rejectedForMs = 1_000;

interface JournalParts {
  readonly disk: Disk;
  readonly writer: string;
  readonly limits: JournalLimits;
  readonly observer: LedgerObserver;
  readonly clock: Clock;
  readonly log: JournalLog;
}

/** The part of a journal that a shipper uses. */
export type ShippableJournal = Omit<Journal, "append" | "close">;

/** The rows of one writer: a hash chain in the segments of a log. */
export class Journal {
  readonly #parts: JournalParts;
  readonly #reader: JournalReader;
  readonly #listeners: (() => void)[] = [];
  readonly #commit: GroupCommit<string>;
  #outage: { readonly error: LedgerError; readonly untilMs: number } | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#reader = new JournalReader(parts.disk);
    this.#commit = new GroupCommit({
      write: (texts) => this.#write(texts),
      failed: (cause) => this.#fail(cause),
      maxBatchSize: maxBatchBytes,
    });
  }

  get writer(): string {
    return this.#parts.writer;
  }

  /** The newest row that is durable. */
  head(): Head {
    return this.#parts.log.head;
  }

  /** The size of all segments together. */
  bytes(): number {
    return this.#parts.log.segments.bytes;
  }

  /** The number of the first row that is still here. */
  first(): number {
    return this.#parts.log.segments.numbers[0] ?? 1;
  }

  /** Durable rows behind number `after`. */
  read(after: number, portion: Omit<Portion, "until">): Promise<readonly WrittenRow[]> {
    return this.#reader.read(after, { ...portion, until: this.head().seq });
  }

  /** Calls `listener` whenever there may be more durable rows. */
  onMore(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Removes the segments whose rows are all up to number `seq`, because the database has them. The two newest stay: the
   * newest may have no rows yet, and then the end of the chain is in the one before it.
   */
  async forget(seq: number): Promise<void> {
    const { segments } = this.#parts.log;
    const firstNeeded = segments.numbers.slice(0, -1).findLast((number) => number - 1 <= seq);
    // Once it is closed, the directory may belong to another process.
    if (firstNeeded !== undefined && this.#closing === undefined) await segments.dropBefore(firstNeeded);
  }

  /** Resolves when a row with the text of an event is durable. */
  append(text: string): Promise<void> {
    const bytes = Buffer.byteLength(text) + overheadBytes;
    const error = this.#findRejection(bytes);
    return error ? Promise.reject(error) : this.#commit.add(text, bytes);
  }

  /** Waits for the rows of earlier calls, then unlocks the directory. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    await this.#commit.idle();
    await this.#parts.log.segments.close();
    await this.#parts.disk.close();
  }

  #findRejection(bytes: number): LedgerError | undefined {
    const { disk, limits, clock } = this.#parts;
    if (this.#closing !== undefined) return new LedgerError("closed", `the ledger in ${disk.directory} is closed`);
    if (this.#outage && clock.now() < this.#outage.untilMs) return this.#outage.error;
    const { waitingSize } = this.#commit;
    if (waitingSize + bytes > limits.waitingBytes) {
      const why = `${waitingSize} bytes of events already wait for the disk; retry later`;
      return new LedgerError("overloaded", `the ledger in ${disk.directory} rejected an event: ${why}`);
    }
    if (this.bytes() + waitingSize + bytes > limits.journalBytes) {
      const why = `it has ${this.bytes()} bytes that the database does not have yet, of ${limits.journalBytes}`;
      const help = "bring the database back, or raise ledger.maxJournalBytes";
      return new LedgerError("full", `the ledger in ${disk.directory} rejected an event: ${why}; ${help}`);
    }
    return undefined;
  }

  async #write(texts: readonly string[]) {
    const { log, limits } = this.#parts;
    // Before the rows are numbered: rows of a failed write may be kept.
    await log.segments.repair();
    if (log.segments.isFull(limits.segmentBytes)) await log.segments.rotate(log.head.seq + 1);
    const { bytes, head } = this.#toRows(texts);
    await log.segments.append(bytes);
    log.head = head;
    this.#outage = undefined;
    this.#written(bytes.length);
  }

  #toRows(texts: readonly string[]): { bytes: Buffer; head: Head } {
    let head = this.head();
    const { writer } = this;
    const synced = head.seq;
    let lines = "";
    for (const text of texts) {
      const seq = head.seq + 1;
      const { line, hash } = rowLine(text, { writer, seq, synced, previous: head.hash });
      lines += line;
      head = { seq, hash };
    }
    return { bytes: Buffer.from(lines), head };
  }

  #fail(cause: Error): LedgerError {
    const { disk, clock } = this.#parts;
    const todo = `${describeFix(cause)}: it rejects events until the disk can be written again`;
    const error = new LedgerError("failed", `the ledger in ${disk.directory} failed: ${cause.message}; ${todo}`, {
      cause,
    });
    this.#outage = { error, untilMs: clock.now() + rejectedForMs };
    // Rows of the failed write may have been kept.
    this.#written(0);
    return error;
  }

  #written(bytes: number) {
    this.#parts.observer.wrote(bytes);
    for (const listener of this.#listeners) listener();
  }
}

function describeFix({ code = "" }: NodeJS.ErrnoException): string {
  return ["ENOSPC", "EDQUOT"].includes(code) ? "free space on its volume" : "repair its volume";
}
