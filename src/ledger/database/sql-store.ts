/** A value of a column. */
export type SqlValue = string | number | null;

export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * Port: a database that takes SQL which both SQLite and PostgreSQL understand. Every call is one statement that happens
 * wholly or not at all, is durable when it resolves, and ends within a bounded time. Throws LedgerError `unavailable`.
 */
export interface SqlStore {
  /** Where it is, for messages; without credentials. */
  readonly place: string;
  /** Runs `create` unless the table `table` is there. Any number of processes may do so together. */
  prepare(table: string, create: readonly string[]): Promise<void>;
  /** Parameters are written `$1`, `$2`. */
  query(sql: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  close(): Promise<void>;
}
