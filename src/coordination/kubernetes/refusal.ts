import { KubeError } from "../../kube/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";

/** What the API server rejected with as our error: a refusal that will not change by itself, or no answer. */
export function toCoordinationError(key: Key, cause: unknown): CoordinationError {
  if (!(cause instanceof KubeError)) throw cause;
  if (cause.code === "forbidden" || cause.code === "invalid") {
    // The server's own words name the verb that is missing.
    return new CoordinationError("forbidden", `${key}: ${cause.message}`, { cause });
  }
  return new CoordinationError("unavailable", `${key}: the API server does not respond`, { cause });
}

/** The same, for the end of a call. */
export function rethrowFor(key: Key): (cause: unknown) => never {
  return (cause) => {
    throw toCoordinationError(key, cause);
  };
}
