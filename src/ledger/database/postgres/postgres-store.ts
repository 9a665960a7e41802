import pg from "pg";
import { LedgerError } from "../../ledger.ts";
import type { SqlRow, SqlStore, SqlValue } from "../sql-store.ts";

export interface PostgresStoreOptions {
  /** `postgres://user:password@host:5432/database?sslmode=require` */
  readonly url: string;
  /** The max time for connecting and for one statement: a frozen server counts as unavailable. */
  readonly timeoutMs?: number;
}

/** An arbitrary number for the advisory lock under which processes create the tables, one after the other. */
const creating = 4_931_027_116;

/** A database in PostgreSQL. Connects at the first query, and again after the connection was lost. */
export function postgresStore({ url, timeoutMs = 10_000 }: PostgresStoreOptions): SqlStore {
  const place = describePlace(url);
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: timeoutMs,
    // Ours, for a server that does not respond at all; and the server's own, so that it does not continue without us.
    query_timeout: timeoutMs,
    statement_timeout: timeoutMs,
    keepAlive: true,
    application_name: "interlock",
    allowExitOnIdle: true,
    types: { getTypeParser },
  });
  // An idle connection that breaks is replaced at the next query, which is when it matters.
  pool.on("error", () => {});

  async function run(sql: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    try {
      return (await pool.query<Record<string, SqlValue>>(sql, [...values])).rows;
    } catch (cause) {
      throw new LedgerError("unavailable", `${place} cannot be used: ${describeCause(cause)}`, { cause });
    }
  }

  return {
    place,
    async prepare(table, create) {
      // Checked first, so that a role that may only read or add needs no right to create.
      const [found] = await run("SELECT to_regclass($1) IS NOT NULL AS there", [table]);
      if (found?.["there"]) return;
      // Several statements in one message are one transaction.
      await run([`SELECT pg_advisory_xact_lock(${creating})`, ...create].join(";\n"), []);
    },
    query: run,
    async close() {
      await pool.end();
    },
  };
}

/** Numbers of rows and times are 64 bits wide there, and safe integers here. */
function getTypeParser(...[oid, format]: Parameters<typeof pg.types.getTypeParser>) {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format);
}

function describePlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `PostgreSQL at ${host}${pathname}`;
}

/** Several addresses of one host that all refuse are reported without a sentence. */
function describeCause(cause: unknown): string {
  const { message, code, errors } = cause as { message?: string; code?: string; errors?: readonly Error[] };
  return message || errors?.map((error) => error.message).join(", ") || code || "no response";
}
