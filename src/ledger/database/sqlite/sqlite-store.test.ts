import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ledgerDatabaseContract } from "../ledger-database.contract.ts";
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
