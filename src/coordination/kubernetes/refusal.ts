import { KubeError } from "../../kube/index.ts";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";

/** The error of a failed call to the API server: `forbidden` if a retry cannot succeed, else `unavailable`. */
export function fromKubeError(key: Key, cause: unknown): CoordinationError {
  if (!(cause instanceof KubeError)) throw cause;
  if (cause.code === "forbidden" || cause.code === "invalid") {
    // The server's own words name the verb that is missing.
    return new CoordinationError("forbidden", `${key}: ${cause.message}`, { cause });
  }
  return new CoordinationError("unavailable", `${key}: the API server does not respond`, { cause });
}

/** Returns a rejection handler that throws the result of `fromKubeError`. */
export function rethrowKubeError(key: Key): (cause: unknown) => never {
  return (cause) => {
    throw fromKubeError(key, cause);
  };
}
