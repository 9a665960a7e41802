import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { systemClock } from "../../time/index.ts";
import { chain } from "../database/ledger-database.contract.ts";
import { verifyOverlap } from "./verify-overlap.ts";

const at = "2026-11-15T10:00:00.000Z";
const rows = chain(
  "w-1",
  ["a", "b", "c"].map((id) => ({ id, type: "run.created", at, facts: {} })),
);

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-overlap-"));
  mkdirSync(join(directory, "w-1"));
  writeFileSync(join(directory, "w-1", "0000000000000001.jsonl"), rows.map(({ line }) => `${line}\n`).join(""));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe("verification of journal and database", () => {
  it("waits for rows that are being shipped", async () => {
    let reads = 0;
    // One more row arrives with each read.
    const database = databaseOf(() => Math.min(3, reads++));
    const clock = systemClock();

    const problems = await verifyOverlap(directory, database, { clock, patienceMs: 60_000, expectsJournals: true });

    expect(problems).toEqual([]);
    expect(reads).toBeGreaterThan(3);
  });

  it("reports rows that do not arrive in time as one problem", async () => {
    const database = databaseOf(() => 1);
    const clock = new ManualClock();

    const problems = await verifyOverlap(directory, database, { clock, patienceMs: 0, expectsJournals: true });

    expect(problems).toMatchObject([
      { kind: "missing", line: 2, message: expect.stringMatching(/^rows 2 to 3 are in/) },
    ]);
  });

  it("expects no journal of a writer whose journal may be on another machine", async () => {
    const database = { ...databaseOf(() => 3), writers: async () => ["w-1", "w-9"] };
    const options = { clock: new ManualClock(), patienceMs: 0 };

    expect(await verifyOverlap(directory, database, { ...options, expectsJournals: false })).toEqual([]);
    expect(await verifyOverlap(directory, database, { ...options, expectsJournals: true })).toMatchObject([
      { kind: "missing", file: join(directory, "w-9") },
    ]);
  });
});

/** A database with `count()` of the rows at the time of the query. */
function databaseOf(count: () => number) {
  return {
    place: "db",
    writers: async () => ["w-1"],
    head: async () => undefined,
    async *lines(_writer: string, after: number) {
      for (const { line, row } of rows.slice(after, count())) yield { seq: row.seq, line, isIndexedCorrectly: true };
    },
  };
}
