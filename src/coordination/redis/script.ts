import { createHash } from "node:crypto";
import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { Guarantee } from "../locks/locks.ts";

/** A Lua script and its name in Redis. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** The part of a connection that claims and watermarks use. */
export interface Scripts {
  readonly guarantee: Guarantee;
  /** First part of all keys, unless the caller has one. */
  readonly prefix: string;
  /** Runs `script`; normally only its hash is sent. */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** The error of a failed call to Redis: `forbidden` if a retry cannot succeed, else `unavailable`. */
export function fromRedisError(key: Key, cause?: unknown): CoordinationError {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (/^(NOPERM|NOAUTH|WRONGPASS|WRONGTYPE)/.test(message)) {
    return new CoordinationError("forbidden", `${key}: Redis rejected the request: ${message}`, { cause });
  }
  return new CoordinationError("unavailable", `${key}: Redis does not respond`, { cause });
}

/** Returns a rejection handler that throws the result of `fromRedisError`. */
export function rethrowRedisError(key: Key): (cause: unknown) => never {
  return (cause) => {
    throw fromRedisError(key, cause);
  };
}
