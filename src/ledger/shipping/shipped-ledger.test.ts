import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { type RecordingLogger, recordingLogger } from "../../../test/doubles/recording-logger.ts";
import { openDirectory } from "../../disk/index.ts";
import { promMetrics } from "../../telemetry/index.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { chain } from "../database/ledger-database.contract.ts";
import { type LedgerDatabase, ledgerDatabase } from "../database/ledger-database.ts";
import { sqliteStore } from "../database/sqlite/sqlite-store.ts";
import { verifyDatabase } from "../database/verify-database.ts";
import { type FileLedgerOptions, openFileLedger } from "../file/file-ledger.ts";
import { readLedger } from "../file/read-ledger.ts";
import type { LedgerRow } from "../file/row.ts";
import { verifyLedger } from "../file/verify-ledger.ts";
import { ledgerContract } from "../ledger.contract.ts";
import { LedgerError, type LedgerEvent } from "../ledger.ts";
import { observeShipping } from "./observe-shipping.ts";
import { type Leftover, type LeftoversOptions, shipLeftovers } from "./ship-leftovers.ts";
import { type ShippedLedger, shippedLedger } from "./shipped-ledger.ts";

let directory: string;
let clock: ManualClock;
let log: RecordingLogger;
let weather: Weather;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-shipping-"));
  clock = new ManualClock();
  log = recordingLogger();
  weather = { answers: "yes" };
});

afterEach(() => rmSync(directory, { recursive: true }));

ledgerContract("file and database", async () => {
  const own = mkdtempSync(join(tmpdir(), "interlock-shipping-"));
  const ledger = await openFileLedger({ directory: own, writer: "w-1", clock: systemClock() });
  const database = ledgerDatabase(sqliteStore(join(own, "ledger.sqlite")));
  return {
    ledger: shippedLedger({ ledger, database, clock: systemClock(), random: systemRandom(), log: recordingLogger() }),
    events: () => all(readLedger(own)),
    dispose: async () => rmSync(own, { recursive: true }),
  };
});

describe("the journal of a process that ended", () => {
  it("is shipped", async () => {
    await writeJournal("w-1", 3);

    const shipped = await shipOthers();

    expect(shipped).toEqual([{ writer: "w-1", kind: "shipped", rows: 3, left: 0 }]);
    expect((await stored()).map(({ id }) => id)).toEqual(["event-1", "event-2", "event-3"]);
  });

  it("gets no new rows, even if shipping takes minutes", async () => {
    await writeJournal("w-1", 3);
    await writeJournal("w-2", 1);
    weather.answers = "never";

    const shipped = await shipOthers({ except: "w-2", withinMs: 300_000 });

    expect(shipped).toEqual([{ writer: "w-1", kind: "shipped", rows: 0, left: 3 }]);
    expect((await all(readLedger(directory))).map(({ type }) => type)).not.toContain("ledger.heads");
  });

  it("is shipped although that of another one is damaged", async () => {
    await writeJournal("w-1", 3);
    await writeJournal("w-2", 2);
    const file = join(directory, "w-1", `${"1".padStart(16, "0")}.jsonl`);
    writeFileSync(file, readFileSync(file, "utf8").replace("event-2", "event-9"));

    const shipped = await shipOthers();

    expect(shipped).toEqual([
      { writer: "w-1", kind: "unreadable", problem: expect.stringContaining("is damaged at line 2") },
      { writer: "w-2", kind: "shipped", rows: 2, left: 0 },
    ]);
  });

  async function writeJournal(writer: string, events: number) {
    const ledger = await openFileLedger({ directory, writer, clock });
    for (const one of range(1, events)) await ledger.append(event(one));
    await ledger.close();
  }

  async function shipOthers(options: Partial<LeftoversOptions> = {}): Promise<readonly Leftover[]> {
    const random = { fraction: () => 0.5, id: () => "x" };
    // The files have the time of the machine, and the clock is another one.
    const limits = { quietForMs: Number.NEGATIVE_INFINITY, withinMs: 60_000 };
    const shipping = shipLeftovers({
      directory,
      ...limits,
      database: exposed(database()),
      clock,
      random,
      log,
      ...options,
    });
    let shipped: readonly Leftover[] | undefined;
    const done = shipping.then((found) => {
      shipped = found;
    });
    await until(() => shipped !== undefined);
    await done;
    return shipped ?? [];
  }
});

describe("a journal with a database", () => {
  it("ships every row as it was written, and removes shipped segments", async () => {
    const ledger = await open();
    const written = await appendEvents(ledger, 1, 40);
    await until(() => ledger.lag().events === 0 && segments().length === 2);

    expect((await stored()).map(({ id }) => id)).toEqual(written);
    expect(log.events.filter(({ level }) => level !== "info")).toEqual([]);
    expect((await verifyDatabase(database())).problems).toEqual([]);
    expect(await verifyLedger(directory)).toMatchObject({ writers: [{ head: { seq: 40 } }], problems: [] });
    await close(ledger);
  });

  it("never removes a segment before the database has its rows", async () => {
    const early: string[] = [];
    const ledger = await open({
      openDisk: async (path, clock) => {
        const disk = await openDirectory(path, clock);
        return {
          ...disk,
          async remove(name) {
            const last = segments().filter((other) => other > name)[0] ?? "";
            const head = await database().head("w-1");
            if ((head?.seq ?? 0) < Number(last.slice(0, 16)) - 1) early.push(name);
            return disk.remove(name);
          },
        };
      },
    });

    await appendEvents(ledger, 1, 60);
    await until(() => ledger.lag().events === 0 && segments().length === 2);

    expect(early).toEqual([]);
    await close(ledger);
  });

  it("goes on after a restart where the database is, although segments are gone", async () => {
    const first = await open();
    await appendEvents(first, 1, 30);
    await until(() => first.lag().events === 0);
    await close(first);

    const second = await open();
    await appendEvents(second, 31, 60);
    await until(() => second.lag().events === 0);

    expect((await stored()).map(({ seq }) => seq)).toEqual(range(1, 60));
    expect((await verifyDatabase(database())).problems).toEqual([]);
    await close(second);
  });

  it("counts no row as waiting that is gone from the journal, although the database does not respond after a restart", async () => {
    const first = await open();
    await appendEvents(first, 1, 30);
    await until(() => first.lag().events === 0 && segments().length === 2);
    await close(first);
    weather.answers = "no";

    const second = await open();

    expect(second.lag().events).toBe(30 - Number(segments()[0]?.slice(0, 16)) + 1);
    expect(second.lag().events).toBeLessThan(30);
    await close(second);
  });

  it("accepts events while the database is unavailable, logs it once, and loses nothing", async () => {
    const ledger = await open();
    weather.answers = "no";
    await appendEvents(ledger, 1, 25);
    for (let i = 0; i < 30; i++) await until(() => false, 1);
    await appendEvents(ledger, 26, 50);

    expect(ledger.lag().events).toBe(50);
    expect(ledger.lag().seconds).toBeGreaterThan(0);
    expect(log.events.filter(({ event }) => event.startsWith("ledger database unavailable"))).toHaveLength(1);
    weather.answers = "yes";
    await until(() => ledger.lag().events === 0);

    expect((await stored()).map(({ seq }) => seq)).toEqual(range(1, 50));
    await until(() => log.events.some(({ event }) => event === "ledger database available again"));
    await close(ledger);
  });

  it("has no row twice when responses are lost", async () => {
    weather.answers = "without-response";
    const ledger = await open();
    await appendEvents(ledger, 1, 25);
    await until(() => ledger.lag().events === 0);
    await appendEvents(ledger, 26, 30);
    await until(() => ledger.lag().events === 0);

    expect(weather.calls).toBeGreaterThanOrEqual(2);
    expect((await stored()).map(({ seq }) => seq)).toEqual(range(1, 30));
    await close(ledger);
  });

  it("is full at its limit: rejects events, logs it once, and continues when the database is back", async () => {
    weather.answers = "no";
    const ledger = await open({ limits: { segmentBytes: 1_000, journalBytes: 8_000 } });
    const refusals: unknown[] = [];
    let kept = 0;
    for (let i = 1; i <= 60; i++) {
      await ledger.append(event(i)).then(
        () => kept++,
        (error) => refusals.push(error),
      );
    }

    expect(kept).toBeGreaterThan(10);
    expect(refusals).toHaveLength(60 - kept);
    expect(refusals[0]).toMatchObject({ code: "full", message: expect.stringContaining("ledger.maxJournalBytes") });
    expect(log.events.filter(({ event }) => event === "ledger append failed")).toHaveLength(1);
    weather.answers = "yes";
    await until(() => ledger.lag().events === 0 && segments().length === 2);
    await ledger.append(event(61));
    expect(log.events).toContainEqual(expect.objectContaining({ event: "ledger append recovered" }));
    await until(() => ledger.lag().events === 0);
    expect(await stored()).toHaveLength(kept + 1);
    await close(ledger);
  });

  it("continues with a database that lacks removed rows, and logs the missing rows", async () => {
    const ledger = await open();
    await appendEvents(ledger, 1, 40);
    await until(() => ledger.lag().events === 0);
    await close(ledger);
    const first = Number(segments()[0]?.slice(0, 16));
    for (const name of readdirSync(directory).filter((name) => name.includes("sqlite"))) rmSync(join(directory, name));

    const later = await open();
    await appendEvents(later, 41, 45);
    await until(() => later.lag().events === 0);

    expect((await stored()).map(({ seq }) => seq)).toEqual(range(first, 45));
    const fields = expect.objectContaining({ from: 1, to: first - 1 });
    expect(log.events).toContainEqual({ level: "error", event: "rows missing in the ledger database", fields });
    expect((await verifyDatabase(database())).problems[0]).toMatchObject({ kind: "missing" });
    await close(later);
  });

  it("keeps its rows when the database has others under their numbers, and logs an error", async () => {
    await database().add(chain("w-1", [event(90), event(91)]));
    const ledger = await open();
    await ledger.append(event(1));
    await appendEvents(ledger, 2, 40);
    await until(() => log.events.some(({ level }) => level === "error"));

    expect(log.events).toContainEqual({
      level: "error",
      event: "ledger database rejected rows",
      fields: expect.objectContaining({ error: expect.stringContaining("has another last row of writer w-1") }),
    });
    expect(await all(readLedger(directory))).toHaveLength(40);
    await close(ledger);
  });

  it("closes in time although the database never responds", async () => {
    weather.answers = "never";
    const ledger = await open();
    await appendEvents(ledger, 1, 3);
    await until(() => (weather.calls ?? 0) > 0);

    await close(ledger);

    expect(await all(readLedger(directory))).toHaveLength(3);
  });

  it("records how far the database has the others' rows", async () => {
    await database().add(chain("w-2", [event(1), event(2)]));
    const ledger = await open({ headsEveryMs: 60_000 });
    await clock.advance(60_000);
    const heads = () => all(database().events({ type: "ledger.heads" }));
    await until(async () => (await heads()).length > 0);

    const { seq, hash } = (await database().head("w-2")) ?? {};
    expect((await heads())[0]?.facts).toEqual({ heads: {}, stored: { "w-2": { seq, hash } } });
    await close(ledger);
  });

  it("records the heads of more writers than fit into one event", async () => {
    const hash = "0".repeat(64);
    const names = range(1, 2_500).map((i) => `${"w".repeat(50)}-${i}`);
    const ledger = await open({
      headsEveryMs: 60_000,
      storedHeads: async () => new Map(names.map((name) => [name, { seq: 1, hash }])),
    });
    await clock.advance(60_000);
    const heads = () => all(database().events({ type: "ledger.heads" }));
    await until(async () => (await heads()).length === 3);

    const recorded = (await heads()).flatMap(({ facts }) => Object.keys(facts["stored"] ?? {}));
    expect(recorded.sort()).toEqual(names.sort());
    await close(ledger);
  });

  it("shows waiting and shipped rows in its metrics", async () => {
    const metrics = promMetrics();
    let ledger: ShippedLedger | undefined;
    const observer = observeShipping(metrics, () => ledger && { lag: ledger.lag(), journalBytes: 77 });
    weather.answers = "no";
    ledger = await open({}, observer);
    await appendEvents(ledger, 1, 5);
    await until(() => (weather.calls ?? 0) >= 2);
    await clock.advance(90_000);

    const behind = await metrics.text();
    weather.answers = "yes";
    await until(() => ledger?.lag().events === 0);
    const level = await metrics.text();

    expect(behind).toMatch(/ledger_database_lag_events 5\n/);
    expect(Number(/^ledger_database_lag_seconds (\S+)$/m.exec(behind)?.[1])).toBeGreaterThanOrEqual(90);
    expect(behind).toMatch(/ledger_ship_failures_total [1-9]/);
    expect(behind).toContain("ledger_journal_bytes 77");
    expect(level).toContain("ledger_database_lag_events 0");
    expect(level).toContain("ledger_database_lag_seconds 0");
    expect(level).toContain("ledger_shipped_events_total 5");
    await close(ledger);
  });
});

/** What happens to questions. */
interface Weather {
  answers: "yes" | "no" | "without-response" | "never";
  calls?: number;
}

async function open(options: Partial<FileLedgerOptions> = {}, observer?: ReturnType<typeof observeShipping>) {
  const ledger = await openFileLedger({
    directory,
    writer: "w-1",
    clock,
    log,
    limits: { segmentBytes: 1_500 },
    headsEveryMs: 1_000_000_000,
    storedHeads: async () => {
      const head = await database().head("w-2");
      return new Map(head ? [["w-2", head]] : []);
    },
    ...options,
  });
  const random = { fraction: () => 0.5, id: () => "x" };
  return shippedLedger({ ledger, database: exposed(database()), clock, random, log, ...(observer && { observer }) });
}

function database(): LedgerDatabase {
  return ledgerDatabase(sqliteStore(join(directory, "ledger.sqlite")));
}

/** A database out in the weather. */
function exposed(database: LedgerDatabase): LedgerDatabase {
  async function ask<T>(question: () => Promise<T>): Promise<T> {
    weather.calls = (weather.calls ?? 0) + 1;
    switch (weather.answers) {
      case "yes":
        return question();
      case "no":
        throw new LedgerError("unavailable", "it is away");
      case "without-response":
        await question();
        throw new LedgerError("unavailable", "the reply was lost");
      case "never":
        return new Promise(() => {});
    }
  }
  return {
    ...database,
    head: (...call) =>
      weather.answers === "without-response" ? database.head(...call) : ask(() => database.head(...call)),
    add: (rows) => ask(() => database.add(rows)),
    close: () => (weather.answers === "never" ? new Promise(() => {}) : database.close()),
  };
}

/** Lets time pass until it is so. */
async function until(isSo: () => boolean | Promise<boolean>, turns = 5_000): Promise<void> {
  for (let i = 0; i < turns; i++) {
    if (await isSo()) return;
    await clock.advance(100);
    // Files and databases take their own time.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  if (turns > 1) throw new Error("it did not become so");
}

async function close(ledger: ShippedLedger) {
  let isClosed = false;
  const closing = ledger.close().then(() => {
    isClosed = true;
  });
  await until(() => isClosed);
  await closing;
}

async function appendEvents(ledger: ShippedLedger, from: number, to: number): Promise<string[]> {
  const events = range(from, to).map(event);
  for (const one of events) await ledger.append(one);
  return events.map(({ id }) => id);
}

function event(i: number): LedgerEvent {
  const at = new Date(1_700_000_000_000 + i * 1_000).toISOString();
  return { id: `event-${i}`, type: "execution.started", at, facts: { i } };
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function stored(): Promise<LedgerRow[]> {
  return all(database().events({}));
}

function segments(): string[] {
  return readdirSync(join(directory, "w-1"))
    .filter((name) => name.endsWith(".jsonl"))
    .sort();
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}
