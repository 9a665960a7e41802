import type { Disk, SegmentLog } from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { FrameBuilder } from "./frame.ts";
import { drafts, headingFrame, snapshots } from "./log-files.ts";
import { addChange, type LoggedObject } from "./logged-change.ts";
import { type SnapshotContent, writeSnapshot } from "./snapshot.ts";

/** Limits for the space of the log. */
export interface LogSpace {
  /** A smaller log is not compacted. */
  readonly compactedFromBytes: number;
  /** A snapshot is due when the log is this many times the size of all objects: bounds disk use and time to start. */
  readonly compactedFromRatio: number;
  /** The log grows by so much at a time. */
  readonly reservedBytes: number;
}

export interface ObjectLogOptions {
  readonly space: LogSpace;
  /** All objects, with every change that was appended. */
  readonly content: () => SnapshotContent & { readonly characters: number };
  readonly log: Logger;
}

interface AppendedChange {
  readonly do: "put" | "delete";
  readonly entry: LoggedObject;
}

/** The changes on disk: appended one batch at a time, and compacted into a snapshot when there are many. */
export class ObjectLog {
  readonly #disk: Disk;
  readonly #segments: SegmentLog;
  readonly #options: ObjectLogOptions;
  readonly #frame = new FrameBuilder();
  readonly #closing = new AbortController();
  /** After a snapshot that failed, the log must have this size before the next is tried. */
  #notBeforeBytes = 0;
  #compaction: Promise<void> | undefined;

  constructor(disk: Disk, segments: SegmentLog, options: ObjectLogOptions) {
    this.#disk = disk;
    this.#segments = segments;
    this.#options = options;
  }

  /**
   * Resolves when all `changes` are durable; rejects when none of them is. One call at a time, and `content` must show
   * the changes of the last call before the next.
   */
  async append(changes: readonly AppendedChange[]): Promise<void> {
    try {
      if (this.#isCompactionDue()) await this.#startCompaction();
      await this.#segments.append(this.#toFrame(changes));
    } catch (error) {
      const { directory } = this.#disk;
      this.#options.log.error("changes not stored", { directory, changes: changes.length, error });
      throw error;
    }
  }

  /** Abandons a snapshot that is being written: the logs that it would replace are still there. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#compaction;
    await this.#segments.close();
    await this.#disk.close();
  }

  #toFrame(changes: readonly AppendedChange[]): Buffer {
    this.#frame.start("changes");
    for (const change of changes) addChange(this.#frame, change.do, change.entry);
    return this.#frame.finish();
  }

  #isCompactionDue(): boolean {
    const { space, content } = this.#options;
    const { bytes } = this.#segments;
    if (this.#compaction !== undefined || bytes <= Math.max(space.compactedFromBytes, this.#notBeforeBytes))
      return false;
    return bytes > space.compactedFromRatio * content().characters;
  }

  /** From here on changes go to a new log, and the objects in memory are the result of all older logs. */
  async #startCompaction() {
    const content = this.#options.content();
    const generation = (this.#segments.numbers.at(-1) ?? 0) + 1;
    try {
      await this.#segments.rotate(generation, headingFrame({ holds: "log", revision: content.revision }));
    } catch (error) {
      // The old log is as good as before; it only becomes longer for a while.
      return this.#postpone(error);
    }
    this.#compaction = this.#compact(content, generation)
      .catch(async (error) => {
        await this.#postpone(error);
        await this.#disk.remove(drafts.name(generation)).catch(() => {});
      })
      .finally(() => {
        this.#compaction = undefined;
      });
  }

  async #compact(content: SnapshotContent, generation: number) {
    const bytes = await writeSnapshot(this.#disk, generation, content, this.#closing.signal);
    this.#notBeforeBytes = 0;
    await this.#segments.dropBefore(generation);
    for (const { name, number } of snapshots.among(await this.#disk.names())) {
      if (number < generation) await this.#disk.remove(name);
    }
    this.#options.log.info("log compacted", { generation, revision: content.revision, bytes });
  }

  #postpone(error: unknown) {
    if (this.#closing.signal.aborted) return;
    this.#notBeforeBytes = this.#segments.bytes + this.#options.space.compactedFromBytes;
    this.#options.log.warn("compaction postponed", { directory: this.#disk.directory, error });
  }
}
