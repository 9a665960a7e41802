import { createHash } from "node:crypto";
import type { Guarantee } from "../locks/locks.ts";

/** A Lua script and its name in Redis. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** What claims and watermarks need of a connection. */
export interface Scripts {
  readonly guarantee: Guarantee;
  /** First part of all keys, unless the caller has one. */
  readonly prefix: string;
  /** Runs `script` where only its hash needs to travel. */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>;
}

export function script(text: string): Script {
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}
