import type { Disk, DiskFile } from "../../disk/index.ts";
import type { Clock } from "../../time/index.ts";
import { LedgerError } from "../ledger.ts";
import type { Recovered } from "./recover.ts";
import { type Head, mostBatchBytes, overheadBytes, rowLine } from "./row.ts";
import { removable, segmentName, segmentsAmong, sizeOf } from "./segments.ts";

export interface JournalLimits {
  /** A segment that has reached it is followed by a new one. */
  readonly segmentBytes: number;
  /** Of rows that wait for the disk. More are refused: memory is not where events are kept. */
  readonly waitingBytes: number;
  /** Of all segments together. More is refused until the database has taken some of it. */
  readonly journalBytes: number;
}

/**
 * The rows of one writer. All that is told while the disk is busy is written together next, so that many share a sync.
 *
 * After a failed write nobody knows what the disk has taken, and a second sync that succeeds proves nothing: the
 * operating system may have dropped what it could not write. So a failure is the last word until the journal was opened
 * anew: what is there is looked at, and its end made durable, as after a crash. That is tried now and then when there is
 * something to keep; meanwhile everything is refused.
 */
export class Journal {
  readonly #disk: Disk;
  readonly #writer: string;
  readonly #limits: JournalLimits;
  readonly #wrote: (bytes: number) => void;
  readonly #clock: Clock;
  readonly #recover: () => Promise<Recovered>;
  #head: Head;
  #file: DiskFile | undefined;
  #fileBytes: number;
  #olderBytes: number;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #flushing: Promise<void> | undefined;
  #refusal: LedgerError | undefined;
  /** After a failure, when the journal may be opened anew. */
  #reopenFrom = Number.POSITIVE_INFINITY;
  #reopening: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #forgetting: Promise<void> = Promise.resolve();

  constructor({ disk, writer, limits, wrote, clock, recover }: JournalParts, recovered: Recovered) {
    const { head, segment, olderBytes } = recovered;
    this.#disk = disk;
    this.#writer = writer;
    this.#limits = limits;
    this.#wrote = wrote;
    this.#clock = clock;
    this.#recover = recover;
    this.#head = head;
    this.#file = segment?.file;
    this.#fileBytes = segment?.bytes ?? 0;
    this.#olderBytes = olderBytes;
  }

  /** The newest row that is durable. */
  get head(): Head {
    return this.#head;
  }

  /** Of all segments together. */
  get bytes(): number {
    return this.#olderBytes + this.#fileBytes;
  }

  /** Removes the segments whose rows are all up to number `seq`, as far as the journal itself does not need them. */
  forget(seq: number): Promise<void> {
    // Once it is closed, the directory may be somebody else's.
    if (!this.#closing) this.#forgetting = (this.#reopening ?? Promise.resolve()).then(() => this.#removeThrough(seq));
    return this.#forgetting;
  }

  /** Resolves when a row with the text of an event is durable. */
  append(text: string): Promise<void> {
    if (this.#refusal) {
      if (this.#clock.now() >= this.#reopenFrom) this.#reopening ??= this.#reopen();
      return Promise.reject(this.#refusal);
    }
    const bytes = Buffer.byteLength(text) + overheadBytes;
    if (this.#waitingBytes + bytes > this.#limits.waitingBytes) return Promise.reject(this.#overloaded());
    if (this.bytes + this.#waitingBytes + bytes > this.#limits.journalBytes) return Promise.reject(this.#full());

    this.#waitingBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, bytes, resolve, reject });
      this.#flushing ??= this.#flushAll();
    });
  }

  /** What was told before is kept; then the directory is free. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close() {
    this.#reopenFrom = Number.POSITIVE_INFINITY;
    this.#refusal ??= new LedgerError("closed", `the ledger in ${this.#disk.directory} is closed`);
    await this.#flushing;
    await this.#reopening;
    await this.#forgetting.catch(() => {});
    // Every row that was acknowledged is durable already: a disk that fails now takes nothing away.
    await this.#file?.close().catch(() => {});
    await this.#disk.close();
  }

  async #removeThrough(seq: number) {
    for (const { name } of removable(segmentsAmong(await this.#disk.names()), seq)) {
      const bytes = await sizeOf(this.#disk, name);
      await this.#disk.remove(name);
      // One after the other: a power cut must not bring an older one back and leave a hole behind it.
      await this.#disk.sync();
      this.#olderBytes -= bytes;
    }
  }

  async #flushAll() {
    // Not at once: first everybody who is about to tell something gets to, and shares the flush.
    await new Promise<void>((resolve) => queueMicrotask(() => process.nextTick(resolve)));
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#write(batch);
      } catch (error) {
        this.#refuseAll(batch, error as Error);
        break;
      }
      for (const { resolve } of batch) resolve();
      // Those who have just been answered may go on with the next thing, and share the next flush.
      await new Promise<void>((resolve) => queueMicrotask(() => process.nextTick(resolve)));
    }
    this.#flushing = undefined;
  }

  /** As after a crash. Rows of a write that failed may turn out to be there: they are kept, and told again they are merged. */
  async #reopen() {
    try {
      await this.#forgetting.catch(() => {});
      await this.#file?.close().catch(() => {});
      this.#file = undefined;
      const { head, segment, olderBytes } = await this.#recover();
      this.#head = head;
      this.#file = segment?.file;
      this.#fileBytes = segment?.bytes ?? 0;
      this.#olderBytes = olderBytes;
      if (!this.#closing) this.#refusal = undefined;
      this.#wrote(0);
    } catch (error) {
      this.#refuseAll([], error as Error);
    } finally {
      this.#reopening = undefined;
    }
  }

  #takeBatch(): Waiting[] {
    let count = 0;
    let total = 0;
    for (const { bytes } of this.#waiting) {
      if (count > 0 && total + bytes > mostBatchBytes) break;
      total += bytes;
      count++;
    }
    this.#waitingBytes -= total;
    return this.#waiting.splice(0, count);
  }

  async #write(batch: readonly Waiting[]) {
    const file = await this.#fileForMore();
    const synced = this.#head.seq;
    let head = this.#head;
    let lines = "";
    for (const { text } of batch) {
      const seq = head.seq + 1;
      const { line, hash } = rowLine(text, { writer: this.#writer, seq, synced, previous: head.hash });
      lines += line;
      head = { seq, hash };
    }
    const bytes = Buffer.from(lines);
    await file.write(bytes, this.#fileBytes);
    this.#fileBytes += bytes.length;
    this.#head = head;
    this.#wrote(bytes.length);
  }

  async #fileForMore(): Promise<DiskFile> {
    if (this.#file && this.#fileBytes < this.#limits.segmentBytes) return this.#file;
    await this.#file?.close();
    this.#file = await this.#disk.open(segmentName(this.#head.seq + 1), "create-durable");
    this.#olderBytes += this.#fileBytes;
    this.#fileBytes = 0;
    // A row in a file whose name is lost is lost with it.
    await this.#disk.sync();
    return this.#file;
  }

  #refuseAll(batch: readonly Waiting[], cause: Error) {
    const all = [...batch, ...this.#waiting];
    const why = `${cause.message}; it keeps nothing until the disk takes something again`;
    if (!this.#closing) this.#reopenFrom = this.#clock.now() + reopenAfterMs;
    this.#refusal = new LedgerError("failed", `the ledger in ${this.#disk.directory} failed: ${why}`, { cause });
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const { reject } of all) reject(this.#refusal);
  }

  #full(): LedgerError {
    const why = `it has ${this.bytes} bytes that the database has not taken yet, of ${this.#limits.journalBytes}`;
    const help = "bring the database back, or raise ledger.maxJournalBytes";
    return new LedgerError("full", `the ledger in ${this.#disk.directory} took no event: ${why}; ${help}`);
  }

  #overloaded(): LedgerError {
    const why = `${this.#waiting.length} events wait for the disk already; tell it again later`;
    return new LedgerError("overloaded", `the ledger in ${this.#disk.directory} took no event: ${why}`);
  }
}

/** Between a failure and the next look: a disk that is full stays so for a while. */
const reopenAfterMs = 1_000;

interface JournalParts {
  readonly disk: Disk;
  readonly writer: string;
  readonly limits: JournalLimits;
  /** Hears how many bytes each write had. */
  readonly wrote: (bytes: number) => void;
  readonly clock: Clock;
  /** Looks at what is there, and makes its end a place to go on from. */
  readonly recover: () => Promise<Recovered>;
}

interface Waiting {
  readonly text: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: LedgerError) => void;
}
