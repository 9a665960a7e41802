import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";

/** What Redis rejected with as our error: a refusal that will not change by itself, or no answer. */
export function toCoordinationError(key: Key, cause?: unknown): CoordinationError {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (/^(NOPERM|NOAUTH|WRONGPASS|WRONGTYPE)/.test(message)) {
    return new CoordinationError("forbidden", `${key}: Redis rejected the request: ${message}`, { cause });
  }
  return new CoordinationError("unavailable", `${key}: Redis does not respond`, { cause });
}

/** The same, for the end of a call. */
export function rethrowFor(key: Key): (cause: unknown) => never {
  return (cause) => {
    throw toCoordinationError(key, cause);
  };
}
