import type { LedgerDatabase } from "../../../ledger/index.ts";
import type { Progress } from "../../output/progress.ts";

/** The same database, which shows as progress how many of its rows were read and how many were added. */
export function countedDatabase(database: LedgerDatabase, progress: Progress): LedgerDatabase {
  async function* counted<T>(rows: AsyncGenerator<T>, writers: () => Promise<readonly string[]>): AsyncGenerator<T> {
    const total = (await countRows(database, await writers())).toLocaleString("en");
    let read = 0;
    for await (const row of rows) {
      read++;
      if (read % 100 === 0) progress.show(`${read.toLocaleString("en")} of ${total} rows of ${database.place} read`);
      yield row;
    }
  }

  let added = 0;
  return {
    ...database,
    lines: (writer, after) => counted(database.lines(writer, after), async () => [writer]),
    events: (filter, options) => counted(database.events(filter, options), () => database.writers()),
    async add(rows) {
      await database.add(rows);
      added += rows.length;
      progress.show(`${added.toLocaleString("en")} rows shipped to ${database.place}`);
    },
  };
}

/** The rows of a writer are numbered from 1. */
async function countRows(database: LedgerDatabase, writers: readonly string[]): Promise<number> {
  let rows = 0;
  for (const writer of writers) rows += (await database.head(writer))?.seq ?? 0;
  return rows;
}
