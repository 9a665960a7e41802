/**
 * Port: the append-only record of everything that was decided and done. An event is durable when `append` resolves, and
 * then it is never lost, changed or dropped. Telling of the same event twice is harmless: it has the same id.
 */
export interface Ledger {
  /** Throws `LedgerError` if the event may not have been kept; whoever depends on it must not go on. */
  append(event: LedgerEvent): Promise<void>;
  close(): Promise<void>;
}

/** Something that happened. */
export interface LedgerEvent {
  /** The same for the same event, whoever tells of it and however often: `<uid of the object>/<what happened to it>`. */
  readonly id: string;
  readonly type: LedgerEventType;
  /** When it happened, by the API server's clock. RFC 3339 with milliseconds. */
  readonly at: string;
  /** What is known about it. Field names are those of the audit trail: `workflow_id`, `target_resource`, `skip_reason`. */
  readonly facts: Readonly<Record<string, Fact>>;
}

export type Fact = string | number | boolean | readonly Fact[] | { readonly [name: string]: Fact };

/** Everything worth recording. */
export const ledgerEventTypes = [
  "execution.admitted",
  "execution.skipped",
  "execution.started",
  "execution.completed",
  "execution.failed",
  "execution.deleted",
  "run.created",
  "run.cancelled",
  "target.freed",
  "target.rebuilt",
  "failure.acknowledged",
] as const;

export type LedgerEventType = (typeof ledgerEventTypes)[number];

/** The ledger did not keep an event: it may or may not be there. */
export class LedgerError extends Error {
  override readonly name = "LedgerError";
}
