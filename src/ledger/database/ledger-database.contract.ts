import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type EventFilter, isWanted } from "../event-filter.ts";
import { eventText } from "../event-text.ts";
import type { WrittenRow } from "../file/journal-reader.ts";
import { noHash, readRow, rowLine } from "../file/row.ts";
import type { LedgerEvent } from "../ledger.ts";
import { type LedgerDatabase, ledgerDatabase } from "./ledger-database.ts";
import type { SqlStore } from "./sql-store.ts";
import { verifyDatabase } from "./verify-database.ts";

export interface StoreUnderTest {
  readonly store: SqlStore;
  /** The same database, as another process opens it. */
  again(): SqlStore;
  dispose(): Promise<void>;
}

/** What every database of the ledger does. */
export function ledgerDatabaseContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`a ledger database: ${name}`, () => {
    let tested: StoreUnderTest;
    let database: LedgerDatabase;

    beforeEach(async () => {
      tested = await open();
      database = ledgerDatabase(tested.store);
    });

    afterEach(async () => {
      await database.close();
      await tested.dispose();
    });

    it("has rows when add resolves, and another process sees them", async () => {
      const facts = { workflow_id: "restart", steps: ["one", { two: "ä€😀\n\0\ud800" }], n: 0.1 };
      const rows = chain("w-1", [event("a\0\ud800", facts), event("b")]);

      await database.add(rows);

      const other = ledgerDatabase(tested.again());
      expect(await all(other.events({}))).toEqual(rows.map(({ row }) => row));
      expect(await other.head("w-1")).toEqual({ seq: 2, hash: rows[1]?.row.hash });
      await other.close();
    });

    it("is created once when many processes start together", async () => {
      const stores = [1, 2, 3, 4].map(() => ledgerDatabase(tested.again()));

      await Promise.all(stores.map(async (one, i) => retried(() => one.add(chain(`w-${i}`, [event(`event-${i}`)])))));

      expect(await database.writers()).toEqual(["w-0", "w-1", "w-2", "w-3"]);
      for (const store of stores) await store.close();
    });

    it("skips rows that it already has, and adds the others of the same portion", async () => {
      const rows = chain("w-1", [event("a"), event("b"), event("c")]);
      await database.add(rows.slice(0, 2));

      await database.add(rows);
      await database.add(rows);

      expect((await all(database.lines("w-1", 0))).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    });

    it("rejects another row under an existing number", async () => {
      await database.add(chain("w-1", [event("a"), event("b")]));

      const others = chain("w-1", [event("x"), event("y"), event("z")]);

      await expect(database.add(others)).rejects.toMatchObject({ name: "LedgerError", code: "conflict" });
    });

    it("keeps every row, and returns an event that was appended twice once, as first appended", async () => {
      await database.add(chain("w-2", [event("a", { told: "later" }, 9), event("b", {}, 3)]));
      await database.add(chain("w-1", [event("a", { told: "first" }, 1), event("a", { told: "again" }, 2)]));

      const events = await all(database.events({}));

      expect(events.map(({ id, facts }) => [id, facts])).toEqual([
        ["a", { told: "first" }],
        ["b", {}],
      ]);
      expect(await all(database.lines("w-1", 0))).toHaveLength(2);
      expect(await all(database.lines("w-2", 0))).toHaveLength(2);
    });

    it.each<[string, EventFilter, readonly string[]]>([
      ["a target", { target: "prod/deployment/api" }, ["admitted", "started"]],
      ["an incident", { incident: "rr-1" }, ["opened", "admitted"]],
      ["the name of an execution", { execution: "wfe-1" }, ["admitted", "started"]],
      ["the uid of an execution", { execution: "uid-1" }, ["admitted", "started"]],
      ["a type", { type: "run.created" }, ["other"]],
      ["a beginning, which belongs to it", { sinceMs: at(3) }, ["started", "other"]],
      ["an end, which does not", { untilMs: at(3) }, ["opened", "admitted"]],
      ["several things at once", { target: "prod/deployment/api", sinceMs: at(3) }, ["started"]],
      ["nothing that there is", { target: "prod/deployment/API" }, []],
    ])("finds events by %s", async (_, filter, ids) => {
      const ours = { target_resource: "prod/deployment/api", execution: "ns/wfe-1", execution_id: "uid-1" };
      await database.add(
        chain("w-1", [
          event("opened", { remediation_id: "rr-1" }, 1),
          event("admitted", { ...ours, remediation_id: "rr-1" }, 2),
          event("started", ours, 3),
          { ...event("other", { target_resource: "node/one", execution: "ns/wfe-2" }, 4), type: "run.created" },
        ]),
      );

      expect((await all(database.events(filter))).map(({ id }) => id)).toEqual(ids);
      const everything = await all(database.events({}));
      expect(everything.filter((row) => isWanted(row, filter)).map(({ id }) => id)).toEqual(ids);
    });

    it("reads any number of rows, in portions", async () => {
      const many = Array.from({ length: 1_203 }, (_, i) => event(`event-${i}`, {}, i % 7));
      const rows = chain("w-1", many);
      for (let from = 0; from < rows.length; from += 400) await database.add(rows.slice(from, from + 400));

      const events = await all(database.events({}));

      expect(new Set(events.map(({ id }) => id)).size).toBe(1_203);
      expect(await all(database.events({}, { newestFirst: true }))).toEqual(events.toReversed());
      expect(events.map((row) => Date.parse(row.at))).toEqual(events.map((row) => Date.parse(row.at)).sort());
      expect((await all(database.lines("w-1", 3))).map(({ seq }) => seq)).toEqual(
        rows.slice(3).map(({ row }) => row.seq),
      );
    });

    it("stores names that are too long for an index, and finds them", async () => {
      const target = `node/${"x".repeat(100_000)}`;
      await database.add(chain("w-1", [event("y".repeat(50_000), { target_resource: target })]));

      expect(await all(database.events({ target }))).toHaveLength(1);
    });

    it("returns the head of a writer, also the newest that is not a heads row", async () => {
      const heads = { ...event("w-1/heads/1", { heads: {} }), type: "ledger.heads" as const };
      const rows = chain("w-1", [event("a"), heads]);
      await database.add(rows);

      expect(await database.head("w-1")).toMatchObject({ seq: 2 });
      expect(await database.head("w-1", { besidesHeads: true })).toEqual({ seq: 1, hash: rows[0]?.row.hash });
      expect(await database.head("w-9")).toBeUndefined();
    });

    it("finds the events that several writers claim, in portions, and no others", async () => {
      const many = (from: number) => Array.from({ length: 400 }, (_, i) => event(`event-${from + i}`));
      await database.add(chain("w-2", [event("a"), event("b"), event("event-7"), event("z")]));
      let rows = chain("w-1", [event("a"), event("a"), ...many(0), ...many(400), event("z", { other: true })]);
      for (; rows.length > 0; rows = rows.slice(400)) await database.add(rows.slice(0, 400));

      const repeated = await all(database.repeatedEvents());

      const claims = repeated.map((claim) => claim.map(({ id, writer }) => `${id} ${writer}`));
      expect(claims.sort()).toEqual([
        ["a w-1", "a w-1", "a w-2"],
        ["event-7 w-1", "event-7 w-2"],
        ["z w-1", "z w-2"],
      ]);
    });

    describe("verified", () => {
      beforeEach(async () => {
        const target = { target_resource: "node/one" };
        const events = [event("a", target), event("b", target), event("c", target), event("d", target)];
        await database.add(chain("w-1", events));
      });

      it("has no problem", async () => {
        expect(await verifyDatabase(database)).toMatchObject({ writers: [{ writer: "w-1", rows: 4 }], problems: [] });
      });

      it.each([
        [
          "a line that was changed",
          'UPDATE ledger_rows SET line = replace(line, \'"id":"b"\', \'"id":"x"\') WHERE seq = 2',
          "changed",
          2,
        ],
        ["a row that is gone", "DELETE FROM ledger_rows WHERE seq = 2", "missing", 3],
        [
          "a row that is stored under another target",
          "UPDATE ledger_rows SET target = 'node/two' WHERE seq = 3",
          "changed",
          3,
        ],
        ["a row with another time", "UPDATE ledger_rows SET at_ms = 1 WHERE seq = 3", "changed", 3],
        ["rows in another order", "UPDATE ledger_rows SET seq = seq + 10 WHERE seq = 2", "missing", 3],
      ])("names %s", async (_, sql, kind, line) => {
        await tested.store.query(sql, []);

        const { problems } = await verifyDatabase(database);

        expect(problems[0]).toMatchObject({ kind, line, file: expect.stringContaining("writer w-1") });
      });

      it("misses the end of a chain that another writer saw here", async () => {
        const head = await database.head("w-1");
        const seen = { "w-1": { seq: head?.seq ?? 0, hash: head?.hash ?? "" } };
        await database.add(chain("w-2", [{ ...event("heads", { heads: {}, stored: seen }), type: "ledger.heads" }]));
        expect((await verifyDatabase(database)).problems).toEqual([]);

        await tested.store.query("DELETE FROM ledger_rows WHERE writer = 'w-1' AND seq = 4", []);

        expect((await verifyDatabase(database)).problems).toMatchObject([
          {
            kind: "missing",
            message: expect.stringMatching(/^row 4 is missing; it is recorded in .* writer w-2 row 1$/),
          },
        ]);
      });

      it("does not report a row as missing that another writer read in a journal: it may not be shipped yet", async () => {
        const seen = { "w-1": { seq: 9, hash: noHash } };
        await database.add(chain("w-2", [{ ...event("heads", { heads: seen }), type: "ledger.heads" }]));

        expect((await verifyDatabase(database)).problems).toEqual([]);
      });
    });
  });
}

/** Rows of one writer, from the first on. */
export function chain(writer: string, events: readonly LedgerEvent[]): WrittenRow[] {
  let previous = noHash;
  return events.map((event, i) => {
    const { line, hash } = rowLine(eventText(event), { writer, seq: i + 1, synced: i, previous });
    previous = hash;
    const row = readRow(Buffer.from(line.trimEnd()));
    if (!row) throw new TypeError("a line that was just written cannot be read");
    return { line: line.trimEnd(), row };
  });
}

function event(id: string, facts: LedgerEvent["facts"] = {}, second = 0): LedgerEvent {
  return { id, type: "execution.started", at: new Date(at(second)).toISOString(), facts };
}

function at(second: number): number {
  return Date.parse("2026-11-15T10:00:00.000Z") + second * 1_000;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A database may be busy with another client; shipping is retried. */
async function retried(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries > 100 || (error as { code?: string }).code !== "unavailable") throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
