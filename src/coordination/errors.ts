/**
 * - `timeout`: the max wait has passed
 * - `aborted`: the caller's signal aborted
 * - `lost`: the lease or claim ended before the work did
 * - `unavailable`: the backend did not respond; safe to retry
 * - `forbidden`: the backend rejects us until an operator changes its permissions
 * - `collision`: two different keys have the same stored name
 * - `full`: no room for another claim without forgetting one in flight
 * - `mismatch`: the same key was claimed with a different payload
 * - `closed`: this client was closed
 */
export type CoordinationErrorCode =
  | "timeout"
  | "aborted"
  | "lost"
  | "unavailable"
  | "forbidden"
  | "collision"
  | "full"
  | "mismatch"
  | "closed";

/** A lock, claim or watermark operation failed. Contention alone is an outcome, not an error. */
export class CoordinationError extends Error {
  override readonly name = "CoordinationError";
  readonly code: CoordinationErrorCode;

  constructor(code: CoordinationErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Whether `error` is a CoordinationError with this code. */
export function isCoordinationError(error: unknown, code: CoordinationErrorCode): error is CoordinationError {
  return error instanceof CoordinationError && error.code === code;
}
