/**
 * - `in-use`: another process, or this one, has the directory open
 * - `unsupported`: this system cannot lock a directory or file, or a newer version has written the files
 * - `unsafe`: another user may have prepared the directory, or can change it
 * - `damaged`: a file was changed after it was written; the message names it and the offset
 */
export type DiskErrorCode = "in-use" | "unsupported" | "unsafe" | "damaged";

/** The directory cannot be had. Nothing was changed in it. */
export class DiskError extends Error {
  override readonly name = "DiskError";
  readonly code: DiskErrorCode;

  constructor(code: DiskErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
