import type { LedgerEventType } from "./event-types/index.ts";

/**
 * Port: the append-only record of all decisions and actions. An event is durable when `append` resolves, and
 * then it is never lost, changed or dropped. Appending the same event twice is harmless: it has the same id.
 */
export interface Ledger {
  /** Throws `LedgerError` if the event may not be durable; actions that depend on it must not be taken. */
  append(event: LedgerEvent): Promise<void>;
  close(): Promise<void>;
}

/** Something that happened. */
export interface LedgerEvent {
  /** The same for the same event, regardless of the writer: `<uid of the object>/<event>`. */
  readonly id: string;
  readonly type: LedgerEventType;
  /** When it happened, by the API server's clock. RFC 3339 with milliseconds. */
  readonly at: string;
  /** The details. Field names are those of the audit trail: `workflow_id`, `target_resource`, `skip_reason`. */
  readonly facts: Readonly<Record<string, Fact>>;
}

export type Fact = string | number | boolean | readonly Fact[] | { readonly [name: string]: Fact };

/**
 * - `too-large`: it is larger than `largestEventBytes` and is always rejected
 * - `overloaded`: too many events wait already; it was rejected, and can be appended again
 * - `full`: the journal has reached its limit, because the database does not accept its rows; it was rejected
 * - `closed`: the ledger is closed; it was rejected
 * - `failed`: the disk failed; the event may or may not be recorded, and events are rejected until the disk can be written
 * - `damaged`: a file was changed after it was written; the message names file and line
 * - `unavailable`: the database does not respond or rejects the query; a retry may succeed
 * - `conflict`: the database has other rows under the same numbers; a retry fails again
 */
export type LedgerErrorCode = (typeof ledgerErrorCodes)[number];

export const ledgerErrorCodes = [
  "too-large",
  "overloaded",
  "full",
  "closed",
  "failed",
  "damaged",
  "unavailable",
  "conflict",
] as const;

/** The ledger did not keep an event, or cannot be read. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
  readonly code: LedgerErrorCode;

  constructor(code: LedgerErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    // The message has the cause and the fix; in a log, the stack of the journal or of a client only hides them.
    this.stack = "";
    this.code = code;
  }
}

/** `found`: the row of this writer that the database at `place` has, and that differs from the journal. */
export function conflict(place: string, found: string, writer: string): LedgerError {
  const what = `${place} has another ${found} of writer ${writer} than the journal`;
  const why = "two journals were written under one name, or one was put back to an older state";
  const todo = "delete the file ledger-writer beside the journal, and start its process again: it gets a new name";
  return new LedgerError("conflict", `${what}: ${why}; ${todo}`);
}
