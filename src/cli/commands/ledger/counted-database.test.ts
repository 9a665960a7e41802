import { expect, it } from "vitest";
import type { LedgerDatabase } from "../../../ledger/index.ts";
import { noProgress } from "../../output/progress.ts";
import { countedDatabase } from "./counted-database.ts";

it("shows the number of rows that were read and added", async () => {
  const shown: string[] = [];
  const database = countedDatabase(databaseWith(1_250), { ...noProgress, show: (text) => void shown.push(text) });

  for await (const _row of database.lines("w", 0));
  await database.add(Array.from({ length: 3 }) as never);

  expect(shown).toHaveLength(13);
  expect(shown[11]).toBe("1,200 of 1,250 rows of ledger.db read");
  expect(shown[12]).toBe("3 rows shipped to ledger.db");
});

function databaseWith(rows: number): LedgerDatabase {
  async function* lines() {
    for (let seq = 1; seq <= rows; seq++) yield { seq };
  }
  return { place: "ledger.db", head: async () => ({ seq: rows }), lines, add: async () => {} } as never;
}
