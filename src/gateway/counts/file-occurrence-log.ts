import { join } from "node:path";
import {
  type DirectoryFormat,
  type Disk,
  directoryOpener,
  GroupCommit,
  SegmentLog,
  segmentNames,
} from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import { GatewayError } from "../gateway-error.ts";
import { applyRecord, encodeRecord, scanRecords, toCount } from "./occurrence-records.ts";
import { type KeptTally, type OccurrenceLog, Tally } from "./tally.ts";

export interface FileOccurrenceLogOptions {
  /** Belongs to this process alone. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** A segment that has reached it is followed by one that begins with all that is not in the API server yet. */
  readonly segmentBytes?: number;
  /** For tests: a disk that loses things. */
  readonly openDisk?: (directory: string, clock: Clock) => Promise<Disk>;
}

/** Callers that may wait for the next write; more are refused. */
const maxWaiting = 100_000;

const occurrencesFormat: DirectoryFormat = { name: "interlock-occurrences", migrations: [] };

const names = segmentNames({ prefix: "occurrences-", digits: 8, suffix: ".log" });

/** An occurrence log in files. Throws DiskError: `in-use` when another process has the directory, or `damaged`. */
export async function openFileOccurrenceLog(options: FileOccurrenceLogOptions): Promise<OccurrenceLog> {
  const { directory, clock, log } = options;
  const { openDisk = directoryOpener(occurrencesFormat, (done) => log.info("directory upgraded", { ...done })) } =
    options;
  const { segmentBytes = 8 * 1024 * 1024 } = options;
  const disk = await openDisk(directory, clock);
  try {
    const kept = new Map<string, KeptTally>();
    const segments = await SegmentLog.open(disk, {
      names,
      scan: (file, { name }) => scanRecords(file, join(disk.directory, name), (record) => applyRecord(record, kept)),
      isSelfContained: true,
      cutOff: (cut) => log.warn("incomplete write cut off", cut),
    });
    const left = [...kept.values()].map((tally) => new Tally(tally)).filter(({ unwritten }) => unwritten > 0);
    return new FileOccurrenceLog({ disk, segments, segmentBytes, left });
  } catch (error) {
    await disk.close();
    throw error;
  }
}

interface Parts {
  readonly segmentBytes: number;
  readonly disk: Disk;
  readonly segments: SegmentLog;
  readonly left: readonly Tally[];
}

/** However many signals wait for a write, it has one entry for each incident. */
class FileOccurrenceLog implements OccurrenceLog {
  readonly #parts: Parts;
  readonly #commit: GroupCommit<Iterable<Tally>>;
  /** Which edition of each tally the segment has. Weak: tallies without news must not stay in memory because of it. */
  #editions = new WeakMap<Tally, number>();
  /** Tallies that are not in the API server: the next segment has to begin with them. */
  readonly #unwritten: Set<Tally>;
  /** After a failed write: the disk may refuse that place again, and the segment may lack any of the tallies. */
  #hasFailed = false;
  #closed = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#unwritten = new Set(parts.left);
    this.#commit = new GroupCommit({
      write: (entries) => this.#write(union(entries)),
      failed: (cause) => this.#failed(cause),
    });
  }

  get left(): readonly Tally[] {
    return this.#parts.left;
  }

  keep(tallies: Iterable<Tally>): Promise<void> {
    if (this.#closed) return Promise.reject(new GatewayError("closed", "the gateway is going away"));
    const { waitingSize } = this.#commit;
    if (waitingSize >= maxWaiting) {
      return Promise.reject(new GatewayError("unavailable", `${waitingSize} senders already wait for the disk`));
    }
    return this.#commit.add(tallies, 1);
  }

  settle(tally: Tally): void {
    // A failed write loses nothing: after a restart the same count is written to the status once more.
    if (!this.#closed) this.#commit.add([tally], 0).catch(() => {});
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#commit.idle();
    await this.#parts.segments.close();
    await this.#parts.disk.close();
  }

  async #write(tallies: ReadonlySet<Tally>) {
    if (this.#hasFailed || this.#parts.segments.isFull(this.#parts.segmentBytes)) await this.#rotate();
    const entries = [];
    for (const tally of tallies) {
      const isKept = this.#editions.get(tally) === tally.edition;
      entries.push(isKept ? toCount(tally) : tally.toKept());
      this.#editions.set(tally, tally.edition);
      if (tally.unwritten > 0) this.#unwritten.add(tally);
      else this.#unwritten.delete(tally);
    }
    if (entries.length > 0) await this.#parts.segments.append(encodeRecord(entries));
  }

  /** A new segment begins with all that is still needed, and so replaces those before it. */
  async #rotate() {
    for (const tally of this.#unwritten) if (tally.unwritten === 0) this.#unwritten.delete(tally);
    const needed = [...this.#unwritten];
    const next = (this.#parts.segments.numbers.at(-1) ?? 0) + 1;
    const editions = new WeakMap(needed.map((tally) => [tally, tally.edition]));
    await this.#parts.segments.rotate(next, encodeRecord(needed.map((tally) => tally.toKept())));
    this.#editions = editions;
    this.#hasFailed = false;
    await this.#parts.segments.dropBefore(next);
  }

  #failed(cause: Error): GatewayError {
    this.#hasFailed = true;
    return new GatewayError("unavailable", `the occurrence log in ${this.#parts.disk.directory} cannot be written`, {
      cause,
    });
  }
}

function union<T>(groups: readonly Iterable<T>[]): ReadonlySet<T> {
  const all = new Set<T>();
  for (const group of groups) for (const item of group) all.add(item);
  return all;
}
