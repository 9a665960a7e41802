import type { Disk, DiskFile } from "../../../disk/index.ts";
import { headingFrame, logName } from "./log-files.ts";

/**
 * A log that is appended to. After a failed write nobody knows what the disk has taken, and the operating system may
 * show bytes that it has given up writing. So nothing more is appended before the file is cut back to its last durable
 * frame, through a new descriptor, and that cut is durable.
 *
 * It grows by a large step at a time, filled with zeros, and most appends stay inside: a sync that need not also make a
 * new size durable takes about half as long.
 */
export class LogFile {
  readonly #disk: Disk;
  readonly #name: string;
  readonly #step: number;
  #file: DiskFile;
  /** Of the durable frames. */
  #end: number;
  #reserved: number;
  #isSuspect = false;

  /** A new, empty log; durable when this resolves. */
  static async create(disk: Disk, { generation, revision }: LogStart, space: Reserve): Promise<LogFile> {
    const name = logName(generation);
    const file = await disk.open(name, "create-durable");
    const heading = headingFrame({ holds: "log", revision });
    try {
      await file.write(heading, 0);
      await disk.sync();
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    return new LogFile(disk, { name, file, end: heading.length }, space);
  }

  /** The log that was left by an earlier process, cut off at `end`; what is before it is durable when this resolves. */
  static async continue(disk: Disk, { generation, end }: LogEnd, space: Reserve): Promise<LogFile> {
    const name = logName(generation);
    const log = new LogFile(disk, { name, file: await disk.open(name, "durable"), end }, space);
    await log.#cut();
    return log;
  }

  private constructor(disk: Disk, { name, file, end }: OpenLog, { reservedBytes }: Reserve) {
    this.#disk = disk;
    this.#name = name;
    this.#step = reservedBytes;
    this.#file = file;
    this.#end = end;
    this.#reserved = end;
  }

  /** Resolves when the frame is durable. When it rejects the frame is gone, or will be before another is appended. */
  async append(frame: Buffer): Promise<void> {
    const end = this.#end + frame.length;
    const reserved = end <= this.#reserved ? this.#reserved : Math.ceil(end / this.#step) * this.#step;
    try {
      await this.#file.write(reserved === this.#reserved ? frame : padded(frame, reserved - this.#end), this.#end);
    } catch (error) {
      this.#isSuspect = true;
      // At once, so that a crash now does not bring back what the caller is told did not happen.
      await this.repair().catch(() => {});
      throw error;
    }
    this.#end = end;
    this.#reserved = reserved;
  }

  /** Makes the log fit to be appended to. Rejects while the disk does not allow it. */
  async repair(): Promise<void> {
    if (!this.#isSuspect) return;
    const suspect = this.#file;
    this.#file = await this.#disk.open(this.#name, "durable");
    await suspect.close().catch(() => {});
    await this.#cut();
    this.#isSuspect = false;
  }

  /** Every frame is durable already: a disk that fails now takes nothing away. */
  async close(): Promise<void> {
    await this.repair().catch(() => {});
    await this.#file.close().catch(() => {});
  }

  async #cut() {
    await this.#file.truncate(this.#end);
    await this.#file.sync();
    this.#reserved = this.#end;
  }
}

interface LogStart {
  readonly generation: number;
  /** The newest before its first change. */
  readonly revision: number;
}

interface LogEnd {
  readonly generation: number;
  readonly end: number;
}

interface OpenLog {
  readonly name: string;
  readonly file: DiskFile;
  readonly end: number;
}

interface Reserve {
  readonly reservedBytes: number;
}

function padded(frame: Buffer, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  frame.copy(bytes);
  return bytes;
}
