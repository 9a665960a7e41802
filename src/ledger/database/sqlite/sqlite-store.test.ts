import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Pacer, sleep, systemClock } from "../../../time/index.ts";
import { chain, ledgerDatabaseContract } from "../ledger-database.contract.ts";
import { ledgerDatabase } from "../ledger-database.ts";
import { verifyDatabase } from "../verify-database.ts";
import { sqliteStore } from "./sqlite-store.ts";

ledgerDatabaseContract("SQLite", async () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-ledger-"));
  const file = join(directory, "ledger.sqlite");
  return {
    store: sqliteStore(file),
    again: () => sqliteStore(file),
    dispose: async () => rmSync(directory, { recursive: true }),
  };
});

it("lets other work run between the pages of a long read, if it is paced", async () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-ledger-"));
  const clock = systemClock();
  const database = ledgerDatabase(sqliteStore(join(directory, "ledger.sqlite"), { pacer: new Pacer(clock) }));
  const at = new Date(clock.wallMs()).toISOString();
  const rows = chain(
    "w",
    Array.from({ length: 2_500 }, (_, i) => ({ id: `e${i}`, type: "run.created", at, facts: {} }) as const),
  );
  for (let i = 0; i < rows.length; i += 500) await database.add(rows.slice(i, i + 500));
  let isVerified = false;
  let turns = 0;

  const verifying = verifyDatabase(database).finally(() => {
    isVerified = true;
  });
  for (; !isVerified; turns++) await sleep(clock, 0);

  expect((await verifying).writers).toMatchObject([{ rows: rows.length }]);
  expect(turns).toBeGreaterThan(5);
  await database.close();
  rmSync(directory, { recursive: true });
});

it("the newest row besides heads is found by an index, however many heads follow it", async () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-ledger-"));
  const queries: string[] = [];
  const store = sqliteStore(join(directory, "ledger.sqlite"));
  const query: typeof store.query = (sql, values) => {
    queries.push(sql);
    return store.query(sql, values);
  };

  await ledgerDatabase({ ...store, query }).head("w-1", { besidesHeads: true });

  const plan = await store.query(`EXPLAIN QUERY PLAN ${queries.at(-1)}`, ["w-1"]);
  expect(JSON.stringify(plan)).toContain("USING INDEX ledger_rows_besides_heads");
  await store.close();
  rmSync(directory, { recursive: true });
});
