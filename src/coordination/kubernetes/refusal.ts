import { KubeError } from "../../kube/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";

/** The error of a failed call: `forbidden` if a retry cannot succeed, else `unavailable`. */
export function toCoordinationError(key: Key, cause: unknown): CoordinationError {
  if (!(cause instanceof KubeError)) throw cause;
  if (cause.code === "forbidden" || cause.code === "invalid") {
    // The server's own words name the verb that is missing.
    return new CoordinationError("forbidden", `${key}: ${cause.message}`, { cause });
  }
  return new CoordinationError("unavailable", `${key}: the API server does not respond`, { cause });
}

/** The same as a rejection handler. */
export function rethrowFor(key: Key): (cause: unknown) => never {
  return (cause) => {
    throw toCoordinationError(key, cause);
  };
}
