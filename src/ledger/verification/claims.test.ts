import { describe, expect, it } from "vitest";
import { chain } from "../database/ledger-database.contract.ts";
import type { LedgerRow } from "../file/row.ts";
import type { LedgerEvent } from "../ledger.ts";
import { contradictedClaim } from "./claims.ts";

const event: LedgerEvent = { id: "a", type: "run.created", at: "2026-11-15T10:00:00.000Z", facts: { n: 1 } };

describe("an event that is claimed twice", () => {
  it.each<[string, readonly LedgerRow[], readonly string[], string | undefined]>([
    ["by one writer", [row("w-1"), row("w-1", { facts: { n: 2 } })], [], undefined],
    ["by two writers that agree", [row("w-1"), row("w-2")], [], undefined],
    ["by two writers within minutes", [row("w-1"), row("w-2", { at: "2026-11-15T10:09:00.000Z" })], [], undefined],
    ["with an earlier time", [row("w-1"), row("w-2", { at: "2026-11-15T09:00:00.000Z" })], [], "w-2"],
    ["with other facts", [row("w-1"), row("w-2", { facts: { n: 2 } })], [], "w-2"],
    ["with another type", [row("w-1"), row("w-2", { type: "run.cancelled" })], [], "w-2"],
    ["with other facts, both with journals", [row("w-1"), row("w-2", { facts: { n: 2 } })], ["w-1", "w-2"], undefined],
    ["with other facts, the first without a journal", [row("w-1"), row("w-2", { facts: { n: 2 } })], ["w-2"], "w-1"],
    ["by three, of whom the third differs", [row("w-1"), row("w-2"), row("w-3", { facts: {} })], ["w-1"], "w-3"],
  ])("%s", (_what, rows, journals, doubted) => {
    const problem = contradictedClaim(rows, { place: "db", hasJournal: (writer) => journals.includes(writer) });

    if (doubted === undefined) expect(problem).toBeUndefined();
    else expect(problem).toMatchObject({ kind: "contradicted", file: `db, writer ${doubted}` });
  });
});

function row(writer: string, changes: Partial<LedgerEvent> = {}): LedgerRow {
  const [only] = chain(writer, [{ ...event, ...changes }]);
  if (!only) throw new TypeError("a chain of one event has one row");
  return only.row;
}
