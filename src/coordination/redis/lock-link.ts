import type { Key } from "../key.ts";

/** The operations of the lock script; see `lock-script.ts` for the letters. */
export type Mode = "a" | "s" | "t" | "n" | "r" | "c";

export interface LockOperation {
  readonly mode: Mode;
  readonly key: Key;
  readonly holder: string;
  readonly ttlMs: number;
  /** Fences to reserve for `a`, `s`, `t`, `c`; the fence held for `n`. */
  readonly number: number;
  /** key|who|purpose */
  readonly tail: string;
}

/** The script's reply to one operation, as it comes off the wire. */
export type Reply = number | string | readonly (number | string)[];

export interface Replies {
  /** The server's clock during the call, in ms. Always present for callers that must wait. */
  readonly serverMs?: number;
  readonly each: readonly Reply[];
}

/**
 * Port: a connection that carries lock operations to one Redis, and its pushes back. Between `down` and `up` nothing
 * can be sent, and pushes may have been missed.
 */
export interface LockLink {
  readonly isUp: boolean;
  /** When the server started, on the local monotonic clock; undefined where that is unknown or one of several servers. */
  readonly serverStartedAt?: number | undefined;
  /** Sends operations as one unit. Rejects if there is no response; they may or may not have happened. */
  send(operations: readonly LockOperation[]): Promise<Replies>;
  /** Sets the listener for the connection and its pushes. */
  listen(listener: LinkListener): void;
  close(): Promise<void>;
}

export interface LinkListener {
  up(): void;
  down(): void;
  /** holder|fence|server ms|ms granted */
  push(message: string): void;
}
