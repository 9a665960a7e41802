import { type Disk, GroupCommit } from "../../disk/index.ts";
import type { Clock } from "../../time/index.ts";
import { LedgerError } from "../ledger.ts";
import type { JournalLog } from "./recover.ts";
import { type Head, maxBatchBytes, overheadBytes, rowLine } from "./row.ts";

export interface JournalLimits {
  /** A segment that has reached it is followed by a new one. */
  readonly segmentBytes: number;
  /** Of rows that wait for the disk. More are refused: memory is not where events are kept. */
  readonly waitingBytes: number;
  /** Of all segments together. More is refused until the database has taken some of it. */
  readonly journalBytes: number;
}

/** After a failed write, events are refused for so long: a disk that is full stays so for a while. */
const refusedForMs = 1_000;

interface JournalParts {
  readonly disk: Disk;
  readonly writer: string;
  readonly limits: JournalLimits;
  /** Called with the size of each write. */
  readonly wrote: (bytes: number) => void;
  readonly clock: Clock;
  readonly log: JournalLog;
}

/** The rows of one writer: a hash chain in the segments of a log. */
export class Journal {
  readonly #parts: JournalParts;
  readonly #commit: GroupCommit<string>;
  #refusal: { readonly error: LedgerError; readonly untilMs: number } | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#commit = new GroupCommit({
      write: (texts) => this.#write(texts),
      failed: (cause) => this.#refuse(cause),
      maxBatchSize: maxBatchBytes,
    });
  }

  /** The newest row that is durable. */
  get head(): Head {
    return this.#parts.log.head;
  }

  /** Of all segments together. */
  get bytes(): number {
    return this.#parts.log.segments.bytes;
  }

  /** The number of the first row that is still here. */
  get first(): number {
    return this.#parts.log.segments.numbers[0] ?? 1;
  }

  /**
   * Removes the segments whose rows are all up to number `seq`. The two newest stay: where the newest was just begun, the
   * one before it has the end of the chain.
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
    const refusal = this.#rejectReason(bytes);
    return refusal ? Promise.reject(refusal) : this.#commit.add(text, bytes);
  }

  /** The rows of earlier calls are kept; then the directory is free. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    await this.#commit.idle();
    await this.#parts.log.segments.close();
    await this.#parts.disk.close();
  }

  #rejectReason(bytes: number): LedgerError | undefined {
    const { disk, limits, clock } = this.#parts;
    if (this.#closing !== undefined) return new LedgerError("closed", `the ledger in ${disk.directory} is closed`);
    if (this.#refusal && clock.now() < this.#refusal.untilMs) return this.#refusal.error;
    const { waitingSize } = this.#commit;
    if (waitingSize + bytes > limits.waitingBytes) {
      const why = `${waitingSize} bytes of events already wait for the disk; retry later`;
      return new LedgerError("overloaded", `the ledger in ${disk.directory} rejected an event: ${why}`);
    }
    if (this.bytes + waitingSize + bytes > limits.journalBytes) {
      const why = `it has ${this.bytes} bytes that the database does not have yet, of ${limits.journalBytes}`;
      const help = "bring the database back, or raise ledger.maxJournalBytes";
      return new LedgerError("full", `the ledger in ${disk.directory} rejected an event: ${why}; ${help}`);
    }
    return undefined;
  }

  async #write(texts: readonly string[]) {
    const { log, limits, wrote } = this.#parts;
    // Before the rows are numbered: rows of a failed write may be kept.
    await log.segments.repair();
    if (log.segments.isFull(limits.segmentBytes)) await log.segments.rotate(log.head.seq + 1);
    const { bytes, head } = this.#toRows(texts);
    await log.segments.append(bytes);
    log.head = head;
    this.#refusal = undefined;
    wrote(bytes.length);
  }

  #toRows(texts: readonly string[]): { bytes: Buffer; head: Head } {
    let { head } = this;
    const { writer } = this.#parts;
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

  #refuse(cause: Error): LedgerError {
    const { disk, clock, wrote } = this.#parts;
    const why = `${cause.message}; it rejects events until the disk can be written again`;
    const error = new LedgerError("failed", `the ledger in ${disk.directory} failed: ${why}`, { cause });
    this.#refusal = { error, untilMs: clock.now() + refusedForMs };
    // Rows of the failed write may have been kept.
    wrote(0);
    return error;
  }
}
