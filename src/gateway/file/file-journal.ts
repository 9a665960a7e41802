import { type Disk, type DiskFile, openDirectory } from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import { GatewayError } from "../gateway-error.ts";
import type { OccurrenceJournal } from "../occurrence-journal.ts";
import { type KeptTally, Tally } from "../tally.ts";
import { countLine, takeLines, wholeLine } from "./journal-lines.ts";

export interface FileJournalOptions {
  /** Belongs to this process alone. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** A file that has reached it is followed by one that says only what is not in the API server yet. */
  readonly segmentBytes?: number;
  /** Callers that wait for the next write; more are refused. */
  readonly mostWaiting?: number;
  /** For tests: a disk that loses things. */
  readonly openDisk?: (directory: string, clock: Clock) => Promise<Disk>;
}

/** A journal in files. Throws DiskError `in-use` when another process has the directory. */
export async function openFileJournal(options: FileJournalOptions): Promise<OccurrenceJournal> {
  const { directory, clock, log, openDisk = openDirectory } = options;
  const disk = await openDisk(directory, clock);
  try {
    const segments = segmentsAmong(await disk.names());
    const left = await readAll(disk, segments, log);
    return new FileJournal(disk, { ...options, left, segments });
  } catch (error) {
    await disk.close();
    throw error;
  }
}

/** What is told while the disk is busy is written together next: however many signals, one line for each incident. */
class FileJournal implements OccurrenceJournal {
  readonly left: readonly Tally[];
  readonly #disk: Disk;
  readonly #segmentBytes: number;
  readonly #mostWaiting: number;
  #segments: readonly number[];
  #file: DiskFile | undefined;
  #fileBytes = 0;
  /** Of this file, which edition of each tally it has. Weak: what has come to rest must not stay in memory for it. */
  #editions = new WeakMap<Tally, number>();
  /** All that is not in the API server: the next file has to have them. */
  readonly #unwritten = new Set<Tally>();
  #waiting = new Set<Tally>();
  #waiters: Waiter[] = [];
  #flushing: Promise<void> | undefined;
  #closed = false;

  constructor(
    disk: Disk,
    {
      left,
      segments,
      segmentBytes = 8 * 1024 * 1024,
      mostWaiting = 100_000,
    }: FileJournalOptions & { readonly left: readonly Tally[]; readonly segments: readonly number[] },
  ) {
    this.#disk = disk;
    this.left = left;
    this.#segments = segments;
    this.#segmentBytes = segmentBytes;
    this.#mostWaiting = mostWaiting;
    for (const tally of left) this.#unwritten.add(tally);
  }

  keep(tallies: Iterable<Tally>): Promise<void> {
    if (this.#closed) return Promise.reject(new GatewayError("closed", "the gateway is going away"));
    if (this.#waiters.length >= this.#mostWaiting) return Promise.reject(busy(this.#waiters.length));
    for (const tally of tallies) this.#waiting.add(tally);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#flushing ??= this.#flushAll();
    });
  }

  settle(tally: Tally): void {
    if (this.#closed) return;
    this.#waiting.add(tally);
    this.#flushing ??= this.#flushAll();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    await this.#file?.close().catch(() => {});
    await this.#disk.close();
  }

  async #flushAll() {
    await everybodyElse();
    while (this.#waiting.size > 0 || this.#waiters.length > 0) {
      const [batch, waiters] = [this.#waiting, this.#waiters];
      this.#waiting = new Set();
      this.#waiters = [];
      const error = await this.#write(batch).catch((cause: unknown) => this.#giveUp(cause));
      for (const { resolve, reject } of waiters) error ? reject(error) : resolve();
      await everybodyElse();
    }
    this.#flushing = undefined;
  }

  async #write(tallies: Iterable<Tally>): Promise<undefined> {
    if (!this.#file || this.#fileBytes >= this.#segmentBytes) await this.#startFile();
    let lines = "";
    for (const tally of tallies) {
      const isKept = this.#editions.get(tally) === tally.edition;
      lines += isKept ? countLine(tally) : wholeLine(tally);
      this.#editions.set(tally, tally.edition);
      if (tally.unwritten > 0) this.#unwritten.add(tally);
      else this.#unwritten.delete(tally);
    }
    await this.#append(lines);
  }

  /** A new file says everything that is still needed, and so takes the place of all before it. */
  async #startFile() {
    const old = this.#segments;
    const next = (old.at(-1) ?? 0) + 1;
    await this.#file?.close();
    this.#file = undefined;
    for (const tally of this.#unwritten) if (tally.unwritten === 0) this.#unwritten.delete(tally);
    const needed = [...this.#unwritten];
    const file = await this.#disk.open(segmentName(next), "create-durable");
    this.#file = file;
    this.#fileBytes = 0;
    this.#segments = [...old, next];
    this.#editions = new WeakMap(needed.map((tally) => [tally, tally.edition]));
    await this.#append(needed.map(wholeLine).join(""));
    await this.#disk.sync();
    for (const segment of old) await this.#disk.remove(segmentName(segment));
    this.#segments = [next];
  }

  async #append(lines: string) {
    if (lines === "" || !this.#file) return;
    const bytes = Buffer.from(lines);
    await this.#file.write(bytes, this.#fileBytes);
    this.#fileBytes += bytes.length;
  }

  /** Nobody knows what the disk has taken, so the next write begins a new file. Saying a figure again is harmless. */
  async #giveUp(cause: unknown): Promise<GatewayError> {
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
    return new GatewayError("unavailable", `the journal in ${this.#disk.directory} cannot be written`, { cause });
  }
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: GatewayError) => void;
}

/** Lets all who are about to tell something do so, and share the flush. */
function everybodyElse(): Promise<void> {
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

function busy(waiters: number): GatewayError {
  return new GatewayError("unavailable", `${waiters} senders wait for the disk already`);
}

const segmentNames = /^occurrences-(\d{8})\.log$/;

function segmentName(number: number): string {
  return `occurrences-${String(number).padStart(8, "0")}.log`;
}

function segmentsAmong(names: readonly string[]): number[] {
  return names
    .flatMap((name) => segmentNames.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((one, other) => one - other);
}

async function readAll(disk: Disk, segments: readonly number[], log: Logger): Promise<readonly Tally[]> {
  const tallies = new Map<string, KeptTally>();
  for (const segment of segments) {
    const file = await disk.open(segmentName(segment), "read");
    const bytes = Buffer.alloc(await file.size());
    await file.read(bytes, 0);
    await file.close();
    const over = takeLines(bytes, tallies);
    if (over > 0) log.warn("incomplete write ignored", { file: segmentName(segment), bytes: over });
  }
  return [...tallies.values()].map((kept) => new Tally(kept)).filter(({ unwritten }) => unwritten > 0);
}
