import type { Disk } from "../../../disk/index.ts";
import type { Logger } from "../../../telemetry/index.ts";
import { FrameBuilder } from "./frame.ts";
import { LogFile } from "./log-file.ts";
import { draftName, ourFiles } from "./log-files.ts";
import { addChange, type LoggedObject } from "./logged-change.ts";
import type { Recovered } from "./recover.ts";
import { type SnapshotContent, writeSnapshot } from "./snapshot.ts";

/** How much space the log may take, and takes in advance. */
export interface LogSpace {
  /** A smaller log is never worth a snapshot. */
  readonly compactedFromBytes: number;
  /** A snapshot is due when the log is this many times the size of all objects: bounds disk use and time to start. */
  readonly compactedFromRatio: number;
  /** The log grows by so much at a time. */
  readonly reservedBytes: number;
}

export interface JournalOptions {
  readonly space: LogSpace;
  /** What all that was appended comes to. */
  readonly content: () => SnapshotContent & { readonly characters: number };
  readonly log: Logger;
}

interface AppendedChange {
  readonly do: "put" | "delete";
  readonly entry: LoggedObject;
}

/** The changes on disk: appended one batch at a time, and folded into a snapshot when they have become many. */
export class LogJournal {
  readonly #disk: Disk;
  readonly #options: JournalOptions;
  readonly #frame = new FrameBuilder();
  readonly #closing = new AbortController();
  #file: LogFile;
  #generation: number;
  /** Of all logs since the last snapshot. */
  #logBytes: number;
  /** After a snapshot that failed, the log must have this size before the next is tried. */
  #notBeforeBytes = 0;
  #compaction: Promise<void> | undefined;

  /** Goes on where an earlier process stopped. All that it left is durable when this resolves. */
  static async open(disk: Disk, recovered: Recovered, options: JournalOptions): Promise<LogJournal> {
    // The leftovers may go only after the name of what replaces them is certain.
    await disk.sync();
    for (const name of recovered.leftovers) await disk.remove(name);
    const file = recovered.log
      ? await LogFile.continue(disk, recovered.log, options.space)
      : await LogFile.create(disk, { generation: 1, revision: recovered.revision }, options.space);
    return new LogJournal(disk, file, recovered, options);
  }

  private constructor(disk: Disk, file: LogFile, recovered: Recovered, options: JournalOptions) {
    this.#disk = disk;
    this.#file = file;
    this.#generation = recovered.log?.generation ?? 1;
    this.#logBytes = recovered.logBytes;
    this.#options = options;
  }

  /**
   * Resolves when all `changes` are durable; rejects when none of them is. One call at a time, and `content` must show
   * the changes of the last call before the next.
   */
  async append(changes: readonly AppendedChange[]): Promise<void> {
    try {
      await this.#file.repair();
      if (this.#isCompactionDue()) await this.#startCompaction();
      const frame = this.#frameOf(changes);
      await this.#file.append(frame);
      this.#logBytes += frame.length;
    } catch (error) {
      this.#options.log.error("changes not stored", {
        directory: this.#disk.directory,
        changes: changes.length,
        error,
      });
      throw error;
    }
  }

  /** Abandons a snapshot that is being written: the logs that it would replace are still there. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#compaction;
    await this.#file.close();
    await this.#disk.close();
  }

  #frameOf(changes: readonly AppendedChange[]): Buffer {
    this.#frame.start("changes");
    for (const change of changes) addChange(this.#frame, change.do, change.entry);
    return this.#frame.finish();
  }

  #isCompactionDue(): boolean {
    const { space, content } = this.#options;
    const enough = Math.max(space.compactedFromBytes, this.#notBeforeBytes);
    if (this.#compaction !== undefined || this.#logBytes <= enough) return false;
    return this.#logBytes > space.compactedFromRatio * content().characters;
  }

  /** From here on changes go to a new log, and what is now in memory is all that older logs say. */
  async #startCompaction() {
    const content = this.#options.content();
    const older = this.#file;
    try {
      const next = { generation: this.#generation + 1, revision: content.revision };
      this.#file = await LogFile.create(this.#disk, next, this.#options.space);
    } catch (error) {
      // The old log is as good as before; only its length will have to be borne for a while.
      return this.#postpone(error);
    }
    this.#generation++;
    await older.close();
    this.#compaction = this.#compact(content, this.#generation, this.#logBytes)
      .catch((error) => this.#postpone(error))
      .finally(() => {
        this.#compaction = undefined;
      });
  }

  async #compact(content: SnapshotContent, generation: number, olderLogBytes: number) {
    const bytes = await writeSnapshot(this.#disk, generation, content, this.#closing.signal);
    this.#logBytes -= olderLogBytes;
    this.#notBeforeBytes = 0;
    for (const file of ourFiles(await this.#disk.names())) {
      if (file.generation < generation) await this.#disk.remove(file.name);
    }
    this.#options.log.info("log compacted", { generation, revision: content.revision, bytes });
  }

  async #postpone(error: unknown) {
    if (this.#closing.signal.aborted) return;
    this.#notBeforeBytes = this.#logBytes + this.#options.space.compactedFromBytes;
    this.#options.log.warn("compaction postponed", { directory: this.#disk.directory, error });
    await this.#disk.remove(draftName(this.#generation)).catch(() => {});
  }
}
