import type { Key } from "../coordination/key.ts";
import type { Locks } from "../coordination/locks/locks.ts";
import { type LeaderEvents, type LeaderWork, runAsLeader as runOnLocks } from "../coordination/locks/run-as-leader.ts";
import { surroundings } from "./connect.ts";
import type { OpenOptions } from "./options.ts";

export interface RunAsLeaderOptions extends Pick<OpenOptions, "clock" | "random"> {
  /** Ends the candidacy: the work is aborted and awaited, and leadership is released for the next candidate. */
  readonly signal: AbortSignal;
  /** How long others wait for a leader that vanished. Default: that of the locks. */
  readonly ttlMs?: number;
  /** What the leader does, for display. */
  readonly purpose?: string;
  readonly events?: LeaderEvents;
}

/** Runs `work` in one process at a time of all that call this with the same key, until `signal` aborts. */
export function runAsLeader(locks: Locks, key: Key, work: LeaderWork, options: RunAsLeaderOptions): Promise<void> {
  return runOnLocks(locks, key, work, { ...options, ...surroundings(options) });
}
