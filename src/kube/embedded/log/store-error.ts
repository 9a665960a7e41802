/**
 * - `damaged`: what is on disk is not what was written; the message names file and offset
 * - `unsupported`: the files are of a newer version
 */
export type StoreErrorCode = "damaged" | "unsupported";

/** The store cannot be opened. Nothing was changed on disk. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
