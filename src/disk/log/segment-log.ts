import type { Disk, DiskFile } from "../disk.ts";
import { type RecoverOptions, recover, settle } from "./recover.ts";
import type { Segment } from "./segment-names.ts";

export interface SegmentLogOptions extends RecoverOptions {
  /**
   * The segment grows in steps of this size, filled with zeros: a sync that does not have to make a new size durable takes about
   * half as long.
   */
  readonly reserveBytes?: number;
  /** After a failed append, finds the records behind `end` that have to stay. Without it, none does. */
  readonly salvage?: (file: DiskFile, end: number) => Promise<Salvage>;
}

export interface Salvage {
  readonly end: number;
  /** Called when everything before `end` is durable. */
  settled(): void;
}

interface SizedSegment extends Segment {
  /** Where its durable records end. */
  readonly end: number;
}

interface ActiveSegment extends Segment {
  file: DiskFile;
  end: number;
  /** The size of the file, zeros included. */
  reserved: number;
}

/**
 * An append log in segments: files that are written one after the other, of which only the newest grows. The caller
 * decides what a record is and when a segment is full, and makes one call of `append` or `rotate` at a time.
 *
 * After a failed write the disk may have taken any part of it, and the operating system may show bytes that it has given
 * up writing; a second sync that succeeds proves nothing. So nothing is appended before the segment is cut back to its
 * last durable record, through a new descriptor, and that cut is durable.
 */
export class SegmentLog {
  readonly #disk: Disk;
  readonly #options: SegmentLogOptions;
  readonly #older: SizedSegment[];
  #active: ActiveSegment | undefined;
  #isSuspect = false;
  /** A file that a failed `rotate` has left. */
  #leftover: string | undefined;
  #dropping: Promise<void> = Promise.resolve();

  /**
   * Continues where the last process stopped: a write that was cut short is cut off, and everything before it is durable
   * when this resolves. Throws DiskError `damaged` if a durable record was changed; then nothing was modified.
   */
  static async open(disk: Disk, options: SegmentLogOptions): Promise<SegmentLog> {
    const { older, newest, leftovers } = await recover(disk, options);
    // The last process may have died between creating a segment and making its name durable.
    await disk.sync();
    for (const { name } of leftovers) await disk.remove(name);
    const log = new SegmentLog(disk, options, older);
    if (!newest) return log;
    const { name, number, lastWrite, end } = newest;
    const file = await disk.open(name, "durable");
    log.#active = { name, number, file, end, reserved: end };
    try {
      await settle(file, lastWrite, end);
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    return log;
  }

  private constructor(disk: Disk, options: SegmentLogOptions, older: SizedSegment[]) {
    this.#disk = disk;
    this.#options = options;
    this.#older = older;
  }

  /** Of the segments, in order. */
  get numbers(): readonly number[] {
    return [...this.#older, ...(this.#active ? [this.#active] : [])].map(({ number }) => number);
  }

  /** Of all records in all segments. */
  get bytes(): number {
    let bytes = this.#active?.end ?? 0;
    for (const { end } of this.#older) bytes += end;
    return bytes;
  }

  /** Whether `rotate` is due before the next `append`: there is no segment to append to, or it has reached `maxBytes`. */
  isFull(maxBytes: number): boolean {
    return this.#active === undefined || this.#active.end >= maxBytes;
  }

  /**
   * Resolves when `bytes` are durable. When it rejects they are gone, or will be before anything else is appended, except
   * for those that `salvage` finds.
   */
  async append(bytes: Buffer): Promise<void> {
    await this.repair();
    const active = this.#active;
    if (!active) throw new TypeError("there is no segment to append to");
    const step = this.#options.reserveBytes ?? 1;
    const end = active.end + bytes.length;
    const reserved = Math.max(active.reserved, Math.ceil(end / step) * step);
    try {
      await active.file.write(reserved === active.reserved ? bytes : padTo(bytes, reserved - active.end), active.end);
    } catch (error) {
      this.#isSuspect = true;
      // At once, so that a crash now does not bring back a record that the caller is about to report as rejected.
      await this.repair().catch(() => {});
      throw error;
    }
    active.end = end;
    active.reserved = reserved;
  }

  /** Begins the segment `number` with `heading`, durably. When it rejects, the log still ends with the segment before. */
  async rotate(number: number, heading: Buffer = Buffer.alloc(0)): Promise<void> {
    await this.repair();
    const name = this.#options.names.name(number);
    if (this.#leftover && this.#leftover !== name) await this.#disk.remove(this.#leftover);
    this.#leftover = name;
    const file = await this.#disk.open(name, "create-durable");
    try {
      if (heading.length > 0) await file.write(heading, 0);
      // A record in a file whose name is lost is lost with it.
      await this.#disk.sync();
    } catch (error) {
      await file.close().catch(() => {});
      throw error;
    }
    this.#leftover = undefined;
    const before = this.#active;
    this.#active = { name, number, file, end: heading.length, reserved: heading.length };
    if (before) this.#older.push(before);
    // Every record in it is durable: a disk that fails now takes none of them away.
    await before?.file.close().catch(() => {});
  }

  /** Restores the log after a failed append. Rejects while the disk does not allow it. */
  async repair(): Promise<void> {
    const active = this.#active;
    if (!this.#isSuspect || !active) return;
    const suspect = active.file;
    active.file = await this.#disk.open(active.name, "durable");
    await suspect.close().catch(() => {});
    const salvaged = await this.#options.salvage?.(active.file, active.end);
    const end = salvaged?.end ?? active.end;
    await settle(active.file, active.end, end);
    active.end = end;
    active.reserved = end;
    this.#isSuspect = false;
    salvaged?.settled();
  }

  /** Removes the segments before `number`, except the one that is appended to. Does not disturb appends. */
  dropBefore(number: number): Promise<void> {
    this.#dropping = this.#dropping.catch(() => {}).then(() => this.#drop(number));
    return this.#dropping;
  }

  async close(): Promise<void> {
    await this.#dropping.catch(() => {});
    await this.repair().catch(() => {});
    await this.#active?.file.close().catch(() => {});
  }

  async #drop(number: number) {
    for (let oldest = this.#older[0]; oldest && oldest.number < number; oldest = this.#older[0]) {
      await this.#disk.remove(oldest.name);
      // One after the other: a power cut must not bring an older one back and leave a hole behind it.
      await this.#disk.sync();
      this.#older.shift();
    }
  }
}

function padTo(bytes: Buffer, length: number): Buffer {
  if (bytes.length === length) return bytes;
  const longer = Buffer.alloc(length);
  bytes.copy(longer);
  return longer;
}
