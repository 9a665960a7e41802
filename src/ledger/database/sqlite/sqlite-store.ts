import { resolve } from "node:path";
import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import type { Pacer } from "../../../time/index.ts";
import { LedgerError } from "../../ledger.ts";
import type { SqlStore } from "../sql-store.ts";

export interface SqliteStoreOptions {
  /** How long a statement waits for another process that is writing. It blocks this thread. */
  readonly waitMs?: number;
  /** Each query waits for its turn, so that one that reads many pages does not stop everything else in this thread. */
  readonly pacer?: Pick<Pacer, "turn">;
}

/** A database in one file, which any number of processes of this machine may have open. Calls run in this thread. */
export function sqliteStore(file: string, { waitMs = 50, pacer }: SqliteStoreOptions = {}): SqlStore {
  const place = resolve(file);
  let opened: DatabaseSyncInstance | undefined;

  async function run<T>(work: (database: DatabaseSyncInstance) => T): Promise<T> {
    try {
      opened ??= open(place, waitMs);
      return work(opened);
    } catch (cause) {
      throw new LedgerError("unavailable", `${place} cannot be used: ${(cause as Error).message}`, { cause });
    }
  }

  return {
    place,
    prepare: (_table, create) =>
      run((database) => {
        for (const statement of create) database.exec(statement);
      }),
    async query(sql, values) {
      await pacer?.turn();
      return run((database) => database.prepare(numberPlaceholders(sql)).all(...values) as Record<string, never>[]);
    },
    async close() {
      opened?.close();
      opened = undefined;
    },
  };
}

function open(file: string, timeout: number): DatabaseSyncInstance {
  const database = new DatabaseSync(file, { timeout });
  try {
    // Readers and a writer do not wait for one another, and a commit is on the disk when it is reported.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite writes `?1` where PostgreSQL writes `$1`. */
function numberPlaceholders(sql: string): string {
  return sql.replace(/\$(\d+)/g, "?$1");
}
