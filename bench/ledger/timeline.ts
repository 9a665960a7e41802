import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type LedgerDatabase, ledgerDatabase, postgresStore, shippedLedger } from "../../src/ledger/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { sleep, systemRandom } from "../../src/time/index.ts";
import type { PostgresService } from "../../test/services/postgres.ts";
import { machineMs } from "../locks/machine-time.ts";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { append, clock, openJournal } from "./journals.ts";
import type { Measured, Plan } from "./plans.ts";
import { targetCount, targetOf } from "./sample.ts";

const rows = 100_000;

/** All that happened to one target, among 100,000 rows of 1,000 targets. */
export async function measureTimeline(folder: string, plan: Plan, postgres: PostgresService): Promise<Measured> {
  const url = await postgres.newDatabase();
  await fill(folder, url);
  const database = ledgerDatabase(postgresStore({ url }));
  const { usual, slowest } = await timelineMs(database, plan.questions);
  await database.close();
  const bare = await bareMs(url, plan.questions);
  printTable(
    `One target's ${rows / targetCount} events among ${rows.toLocaleString("en")}`,
    ["", "ms"],
    [
      ["every event once, in order, read and checked", usual],
      ["  the slowest of all questions", slowest],
      ["bare: the lines of the target", bare],
    ],
  );
  return { figures: { query100kMs: usual, query100kSlowestMs: slowest }, calibration: { bareQueryMs: bare } };
}

/** All rows, brought to the database as always. */
async function fill(folder: string, url: string): Promise<void> {
  const ledger = await openJournal(mkdtempSync(join(folder, "timeline-")));
  const database = ledgerDatabase(postgresStore({ url }));
  const shipped = shippedLedger({ ledger, database, clock, random: systemRandom(), log: silentLogger });
  await append(shipped, 0, rows);
  while (shipped.lag().events > 0) await sleep(clock, 5);
  await shipped.close();
}

async function timelineMs(database: LedgerDatabase, questions: number) {
  const took: number[] = [];
  for (let i = 0; i < questions; i++) {
    const startedAt = machineMs();
    let found = 0;
    for await (const _ of database.events({ target: targetOf(i * 7) })) found++;
    took.push(machineMs() - startedAt);
    if (found !== rows / targetCount) throw new Error(`${found} events of a target instead of ${rows / targetCount}`);
  }
  // Without its own statistics a database may plan the first questions badly: a median alone would hide that.
  return { usual: median(took), slowest: Math.max(...took) };
}

async function bareMs(url: string, questions: number): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const took: number[] = [];
  for (let i = 0; i < questions; i++) {
    const startedAt = machineMs();
    await client.query("SELECT line FROM ledger_rows WHERE target = $1", [targetOf(i * 7)]);
    took.push(machineMs() - startedAt);
  }
  await client.end();
  return median(took);
}
