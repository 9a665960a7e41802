import { join } from "node:path";
import { type Disk, directoryOpener, GroupCommit, SegmentLog, segmentNames } from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Clock } from "../../time/index.ts";
import { GatewayError } from "../gateway-error.ts";
import { applyRecord, encodeRecord, scanRecords, toCount } from "./occurrence-records.ts";
import { type KeptTally, type OccurrenceLog, Tally } from "./tally.ts";

export interface FileOccurrenceLogOptions {
  /** Used only by this process. */
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** At this size the next segment is begun, with all counts that are not in the API server yet. */
  readonly segmentBytes?: number;
  /** For tests: a disk that loses writes. */
  readonly openDisk?: (directory: string, clock: Clock) => Promise<Disk>;
}

/** The maximum number of callers that wait for the next write; more are refused. */
const maxWaiting = 100_000;

const names = segmentNames({ prefix: "occurrences-", digits: 8, suffix: ".log" });

/** An occurrence log in files. Throws DiskError: `in-use` if another process uses the directory, or `damaged`. */
export async function openFileOccurrenceLog(options: FileOccurrenceLogOptions): Promise<OccurrenceLog> {
  const { directory, clock, log } = options;
  const { segmentBytes = 8 * 1024 * 1024, openDisk = directoryOpener("interlock-occurrences") } = options;
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

/** One write has one entry for each incident, however many signals wait for it. */
class FileOccurrenceLog implements OccurrenceLog {
  readonly #parts: Parts;
  readonly #commit: GroupCommit<Iterable<Tally>>;
  /** The edition of each tally in the segment. Weak, so that idle tallies do not stay in memory. */
  #editions = new WeakMap<Tally, number>();
  /** Tallies with counts that are not in the API server: the next segment begins with them. */
  readonly #unwritten: Set<Tally>;
  /** After a failed write, the segment may lack any of the tallies, and the disk may fail at that position again. */
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
    if (this.#closed) return Promise.reject(new GatewayError("closed", "the gateway is shutting down"));
    const { waitingSize } = this.#commit;
    if (waitingSize >= maxWaiting) {
      return Promise.reject(new GatewayError("unavailable", `${waitingSize} senders already wait for the disk`));
    }
    return this.#commit.add(tallies, 1);
  }

  settle(tally: Tally): void {
    // A failed write is harmless: after a restart the same count is written to the status again.
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

  /** Begins a new segment with all counts that are still needed, and removes the earlier segments. */
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
