import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openLedger } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { type Ledger, ledgerDatabase, postgresStore, verifyDatabase } from "../../src/ledger/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type RecordingLogger, recordingLogger } from "../doubles/recording-logger.ts";
import { type PostgresService, startPostgres } from "../services/postgres.ts";

let postgres: PostgresService;
let directory: string;
let log: RecordingLogger;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(() => postgres.stop());

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-outage-"));
  log = recordingLogger();
});

afterEach(() => rmSync(directory, { recursive: true }));

const writers = ["one", "two", "three"];

describe("PostgreSQL", () => {
  it("that was away for the whole run gets every event once when it is back", { timeout: 60_000 }, async () => {
    const url = await postgres.newDatabase();
    await postgres.kill();
    const during = await Promise.all(writers.map((name) => open(name, url)));
    await Promise.all(during.map((ledger) => append(ledger.ledger, 300)));
    await Promise.all(during.map(({ ledger }) => ledger.close()));
    await postgres.start();

    const after = await Promise.all(writers.map((name) => open(name, url)));
    await expect.poll(() => lagOf(after)).toBe(0);

    const database = ledgerDatabase(postgresStore({ url }));
    const ids: string[] = [];
    for await (const { id } of database.events({})) ids.push(id);
    const report = await verifyDatabase(database);
    await database.close();
    expect(ids.sort()).toEqual(Array.from({ length: 300 }, (_, i) => `event-${i}`).sort());
    expect(report.problems).toEqual([]);
    // Each of the three appended all of them; nothing is dropped.
    expect(report.writers.map(({ rows }) => rows)).toEqual([300, 300, 300]);
    await Promise.all(after.map(({ ledger }) => ledger.close()));
    expect(JSON.stringify(log.events)).not.toContain(postgres.password);
  });

  it("that is frozen delays neither appends nor the shutdown", { timeout: 60_000 }, async () => {
    const url = await postgres.newDatabase();
    const { ledger, metrics } = await open("one", url);
    await append(ledger, 10);
    await expect.poll(() => lagOf([{ metrics }])).toBe(0);
    postgres.pause();
    try {
      await append(ledger, 200, "frozen");
      await ledger.close();
    } finally {
      postgres.resume();
    }

    const again = await open("one", url);
    await expect.poll(() => lagOf([again])).toBe(0);

    const database = ledgerDatabase(postgresStore({ url }));
    const report = await verifyDatabase(database);
    await database.close();
    await again.ledger.close();
    expect(report).toMatchObject({ writers: [{ rows: 210 }], problems: [] });
  });
});

describe("settings", () => {
  it("without a URL rows go to a file beside the journal", async () => {
    const { ledger, metrics } = await open("one");
    await append(ledger, 5);
    await expect.poll(() => lagOf([{ metrics }])).toBe(0);
    await ledger.close();

    expect(readdirSync(join(directory, "one", "ledger"))).toContain("ledger.sqlite");
  });

  it.each([
    ["", "everything that this process has recorded"],
    ["postgres://interlock@127.0.0.1:1/ledger", "events that have not reached the database"],
  ])("ledger.volume: startup warns what an ephemeral one loses, with the URL '%s'", async (url, lost) => {
    const { ledger } = await open("one", url, { LEDGER_VOLUME: "ephemeral" });
    await ledger.close();

    expect(log.events).toContainEqual({
      level: "warn",
      event: "ledger on a volume that may vanish",
      fields: expect.objectContaining({
        directory: join(directory, "one", "ledger"),
        lost: expect.stringContaining(lost),
      }),
    });
  });

  it("ledger.volume: no warning for a persistent one, which is the default", async () => {
    const { ledger } = await open("one");
    await ledger.close();

    expect(log.events.filter(({ event }) => event.includes("may vanish"))).toEqual([]);
  });

  it("the journal stops at ledger.maxJournalBytes while the database is away", async () => {
    const url = `postgres://interlock:${postgres.password}@127.0.0.1:1/ledger`;
    const { ledger } = await open("one", url, { LEDGER_MAX_JOURNAL_BYTES: "20000" });

    const refused = await append(ledger, 1_000).catch((error) => error);

    expect(refused).toMatchObject({ name: "LedgerError", code: "full" });
    expect(log.events).toContainEqual(expect.objectContaining({ level: "error", event: "ledger append failed" }));
    await ledger.close();
    expect(JSON.stringify(log.events)).not.toContain(postgres.password);
  });
});

async function open(name: string, url = "", env: Record<string, string> = {}) {
  const loaded = loadConfig({ env: { LEDGER_URL: url, ...env } });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const metrics = promMetrics();
  const options = {
    loaded,
    directory: join(directory, name),
    clock: systemClock(),
    random: systemRandom(),
    log,
    metrics,
  };
  return { ledger: await openLedger(options), metrics };
}

async function append(ledger: Ledger, count: number, what = "event") {
  const events = Array.from({ length: count }, (_, i) => `${what}-${i}`);
  for (const id of events) await ledger.append({ id, type: "run.created", at: "2026-11-15T10:00:00.000Z", facts: {} });
}

async function lagOf(all: readonly { readonly metrics: ReturnType<typeof promMetrics> }[]): Promise<number> {
  let total = 0;
  for (const { metrics } of all) total += Number(/^ledger_database_lag_events (\d+)$/m.exec(await metrics.text())?.[1]);
  return total;
}
