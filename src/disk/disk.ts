/**
 * Port: the operations of a disk that durable storage needs, so that a test can lose unsynced writes
 * and tear pending ones. It holds files of one directory; opening it excludes every other process until
 * `close`.
 */
export interface Disk extends DiskView {
  open(name: string, mode: OpenMode): Promise<DiskFile>;
  /** Replaces `to` if there is one. Certain only after `sync`, as is every file created or removed. */
  rename(from: string, to: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes names durable: files created, renamed and removed. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** A read-only view of a directory, while its owner writes. */
export interface DiskView {
  /** Where it is, for messages. */
  readonly directory: string;
  names(): Promise<readonly string[]>;
  open(name: string, mode: "read"): Promise<DiskFile>;
}

/**
 * - `read`: an existing file
 * - `create`: a new, empty one, in place of an old one
 * - `create-durable`, `durable`: each write is on the disk when it resolves, in one step instead of two
 */
export type OpenMode = "read" | "create" | "create-durable" | "durable";

/** The caller closes the files that it opens, and has one pending operation at a time. */
export interface DiskFile {
  size(): Promise<number>;
  /** Fills `into` from `position`, as far as the file goes; resolves to the number of bytes read. */
  read(into: Buffer, position: number): Promise<number>;
  /** All of `bytes` or an error; after an error any part of them may be there. */
  write(bytes: Buffer, position: number): Promise<void>;
  truncate(size: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * - `in-use`: another process, or this one, has the directory open
 * - `unsupported`: this system cannot lock a directory or file, or a newer version has written the files
 * - `unsafe`: another user may have prepared the directory, or can change it
 * - `damaged`: a file was changed after it was written; the message names it and the offset
 */
export type DiskErrorCode = "in-use" | "unsupported" | "unsafe" | "damaged";

/** The directory cannot be used. Nothing was changed in it. */
export class DiskError extends Error {
  override readonly name = "DiskError";
  readonly code: DiskErrorCode;

  constructor(code: DiskErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
