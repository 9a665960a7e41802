import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ledgerDatabaseContract } from "../ledger-database.contract.ts";
import { ledgerDatabase } from "../ledger-database.ts";
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
