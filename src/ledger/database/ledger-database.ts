import type { EventFilter } from "../event-filter.ts";
import type { WrittenRow } from "../file/journal-reader.ts";
import { type Head, type LedgerRow, readRow } from "../file/row.ts";
import { conflict } from "../ledger.ts";
import { type Columns, columnNames, columnText, isIndexedCorrectly, type StoredLine, toColumns } from "./columns.ts";
import type { SqlStore, SqlValue } from "./sql-store.ts";

/** All rows of all writers, for queries. Rows are added and never changed. Throws LedgerError `unavailable`. */
export interface LedgerDatabase {
  /** Where it is, for messages; without credentials. */
  readonly place: string;
  /**
   * Adds rows of one writer, in the order of their numbers; durable when it resolves. Those it has are left alone; if it
   * has another row of the same number, it cannot be decided which one is true: LedgerError `conflict`.
   */
  add(rows: readonly WrittenRow[]): Promise<void>;
  writers(): Promise<readonly string[]>;
  /** A writer's newest row; with `besidesHeads`, its newest that does not only record the heads of other writers. */
  head(writer: string, options?: { readonly besidesHeads?: boolean }): Promise<Head | undefined>;
  /** A writer's rows behind number `after`, by number. */
  lines(writer: string, after: number): AsyncGenerator<StoredLine>;
  /** Events in the order of their time, or newest first, each once, as first recorded. Lines that are no rows are skipped. */
  events(filter: EventFilter, options?: { readonly newestFirst?: boolean }): AsyncGenerator<LedgerRow>;
  /** The rows of each event that several writers claim. Lines that are no rows are skipped. */
  repeatedEvents(): AsyncGenerator<readonly LedgerRow[]>;
  close(): Promise<void>;
}

const table = "ledger_rows";

const create = [
  `CREATE TABLE IF NOT EXISTS ledger_rows (
    writer text NOT NULL, seq bigint NOT NULL, hash text NOT NULL, line text NOT NULL,
    id text NOT NULL, type text NOT NULL, at_ms bigint NOT NULL,
    target text, incident text, execution text, execution_id text,
    PRIMARY KEY (writer, seq))`,
  "CREATE INDEX IF NOT EXISTS ledger_rows_id ON ledger_rows (id)",
  "CREATE INDEX IF NOT EXISTS ledger_rows_at ON ledger_rows (at_ms)",
  // An idle writer records heads every minute, and each process looks for the row before them as often.
  "CREATE INDEX IF NOT EXISTS ledger_rows_besides_heads ON ledger_rows (writer, seq) WHERE type <> 'ledger.heads'",
  ...["target", "incident", "execution", "execution_id"].map(
    (column) =>
      `CREATE INDEX IF NOT EXISTS ledger_rows_${column} ON ledger_rows (${column}, at_ms) WHERE ${column} IS NOT NULL`,
  ),
];

/** The rows of one page when reading. */
const pageRows = 500;

/** The ledger's queries, the same for every database. */
export function ledgerDatabase(store: SqlStore): LedgerDatabase {
  let prepared: Promise<void> | undefined;
  async function query(sql: string, values: readonly SqlValue[]) {
    prepared ??= store.prepare(table, create);
    await prepared.catch((error) => {
      prepared = undefined;
      throw error;
    });
    return store.query(sql, values);
  }

  return {
    place: store.place,
    add: (rows) => add(rows, query, store.place),
    async writers() {
      // From one writer to the next by the index: there are few of them, and many rows.
      const found = await query(
        `WITH RECURSIVE found (writer) AS (
          SELECT min(writer) FROM ledger_rows
          UNION ALL SELECT (SELECT min(r.writer) FROM ledger_rows r WHERE r.writer > found.writer)
          FROM found WHERE found.writer IS NOT NULL)
        SELECT writer FROM found WHERE writer IS NOT NULL`,
        [],
      );
      return found.map(({ writer }) => String(writer)).sort();
    },
    async head(writer, { besidesHeads = false } = {}) {
      const which = besidesHeads ? "writer = $1 AND type <> 'ledger.heads'" : "writer = $1";
      const [newest] = await query(`SELECT seq, hash FROM ledger_rows WHERE ${which} ORDER BY seq DESC LIMIT 1`, [
        writer,
      ]);
      return newest && { seq: Number(newest["seq"]), hash: String(newest["hash"]) };
    },
    lines: (writer, after) => lines(writer, after, query),
    events: (filter, { newestFirst = false } = {}) => events(filter, newestFirst ? descending : ascending, query),
    repeatedEvents: () => repeatedEvents(query),
    close: () => store.close(),
  };
}

type Query = SqlStore["query"];

async function add(rows: readonly WrittenRow[], query: Query, place: string): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(toColumns).flatMap((columns) => columnNames.map((name) => columns[name]));
  const width = columnNames.length;
  const tuples = rows.map((_, i) => `(${columnNames.map((_, j) => `$${i * width + j + 1}`).join()})`);
  const added = await query(
    `INSERT INTO ledger_rows (${columnNames.join()}) VALUES ${tuples.join()} ON CONFLICT (writer, seq) DO NOTHING RETURNING seq`,
    values,
  );
  if (added.length < rows.length) await assertSameRows(rows, query, place);
}

/** Some rows exist already. If their hashes agree they are ours, sent again after a response was lost. */
async function assertSameRows(rows: readonly WrittenRow[], query: Query, place: string): Promise<void> {
  const [first, last] = [rows.at(0)?.row, rows.at(-1)?.row];
  const found = await query("SELECT seq, hash FROM ledger_rows WHERE writer = $1 AND seq BETWEEN $2 AND $3", [
    first?.writer ?? "",
    first?.seq ?? 0,
    last?.seq ?? 0,
  ]);
  const hashes = new Map(found.map(({ seq, hash }) => [Number(seq), hash]));
  const other = rows.find(({ row }) => hashes.get(row.seq) !== row.hash)?.row;
  if (other) throw conflict(place, `row ${other.seq}`, other.writer);
}

async function* lines(writer: string, after: number, query: Query): AsyncGenerator<StoredLine> {
  const sql = `SELECT ${columnNames.join()} FROM ledger_rows WHERE writer = $1 AND seq > $2 ORDER BY seq LIMIT ${pageRows}`;
  for (let last = after, isMore = true; isMore; ) {
    const page = await query(sql, [writer, last]);
    for (const columns of page as readonly Columns[]) {
      last = Number(columns.seq);
      yield { seq: last, line: String(columns.line), isIndexedCorrectly: isIndexedCorrectly(columns) };
    }
    isMore = page.length === pageRows;
  }
}

/** The order of rows, also of several rows about one event. */
const place = (row: string) => `(${row}.at_ms, ${row}.writer, ${row}.seq)`;

interface Order {
  readonly keyword: "ASC" | "DESC";
  /** Compares a row with the one before it in this order. */
  readonly follows: ">" | "<";
  /** No row has this time. */
  readonly startAtMs: number;
}

const ascending: Order = { keyword: "ASC", follows: ">", startAtMs: Number.MIN_SAFE_INTEGER };
const descending: Order = { keyword: "DESC", follows: "<", startAtMs: Number.MAX_SAFE_INTEGER };

async function* events(
  filter: EventFilter,
  { keyword, follows, startAtMs }: Order,
  query: Query,
): AsyncGenerator<LedgerRow> {
  const { conditions, values } = toConditions(filter);
  const [atMs, writer, seq] = [1, 2, 3].map((i) => `$${values.length + i}`);
  // Looked up for each row by itself, by the index of ids. As long as PostgreSQL has no statistics, which is when a long
  // outage has just been caught up with, it plans "not exists" as a join with the whole table, the first by time as a walk
  // through the index of times, and takes a count for so expensive that it compiles it first.
  const sql = `SELECT r.at_ms, r.writer, r.seq, r.line FROM ledger_rows r
    WHERE ${[...conditions, `${place("r")} ${follows} (${atMs}, ${writer}, ${seq})`].join(" AND ")}
    AND (SELECT 1 FROM ledger_rows e WHERE e.id = r.id AND ${place("e")} < ${place("r")} LIMIT 1) IS NULL
    ORDER BY r.at_ms ${keyword}, r.writer ${keyword}, r.seq ${keyword} LIMIT ${pageRows}`;
  for (let after: readonly SqlValue[] = [startAtMs, "", 0], isMore = true; isMore; ) {
    const page = await query(sql, [...values, ...after]);
    for (const { line } of page) {
      const row = readRow(Buffer.from(String(line)));
      if (row) yield row;
    }
    const last = page.at(-1);
    if (last) after = [last["at_ms"] ?? 0, last["writer"] ?? "", last["seq"] ?? 0];
    isMore = page.length === pageRows;
  }
}

/** Looking for ids that occur twice goes in pages, because a statement over all rows could exceed its timeout. */
const idPageRows = 5_000;

async function* repeatedEvents(query: Query): AsyncGenerator<readonly LedgerRow[]> {
  const sql = `SELECT id, min(writer) AS first, max(writer) AS last, count(*) AS claims FROM
    (SELECT id, writer FROM ledger_rows WHERE id > $1 ORDER BY id LIMIT ${idPageRows}) AS page GROUP BY id ORDER BY id`;
  for (let after = "", isMore = true; isMore; ) {
    const found = await query(sql, [after]);
    isMore = found.reduce((sum, { claims }) => sum + Number(claims), 0) === idPageRows;
    // The last id of a full page may have more rows on the next one, unless it fills the page alone.
    const isCut = isMore && found.length > 1;
    for (const { id, first, last } of isCut ? found.slice(0, -1) : found) {
      after = String(id);
      if (first !== last || (isMore && !isCut)) yield* readClaims(after, query);
    }
  }
}

/** The max number of rows of one event and writer that are compared. */
const maxClaims = 100;

async function* readClaims(id: string, query: Query): AsyncGenerator<readonly LedgerRow[]> {
  const sql = `SELECT line FROM (SELECT line, writer, seq, row_number() OVER (PARTITION BY writer ORDER BY seq) AS nth
    FROM ledger_rows WHERE id = $1) AS claims WHERE nth <= ${maxClaims} ORDER BY writer, seq LIMIT ${idPageRows}`;
  const lines = await query(sql, [id]);
  const rows = lines.flatMap(({ line }) => readRow(Buffer.from(String(line))) ?? []);
  if (new Set(rows.map(({ writer }) => writer)).size > 1) yield rows;
}

function toConditions(filter: EventFilter) {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  function where(value: SqlValue | undefined, condition: (parameter: string) => string) {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  }
  where(optionalColumn(filter.target), (value) => `r.target = ${value}`);
  where(optionalColumn(filter.incident), (value) => `r.incident = ${value}`);
  where(optionalColumn(filter.execution), (value) => `(r.execution = ${value} OR r.execution_id = ${value})`);
  where(filter.type, (value) => `r.type = ${value}`);
  where(filter.sinceMs, (value) => `r.at_ms >= ${value}`);
  where(filter.untilMs, (value) => `r.at_ms < ${value}`);
  return { conditions, values };
}

function optionalColumn(text: string | undefined): string | undefined {
  return text === undefined ? undefined : columnText(text);
}
