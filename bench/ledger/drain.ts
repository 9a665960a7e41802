import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ledgerDatabase, postgresStore, shippedLedger } from "../../src/ledger/index.ts";
import { silentLogger } from "../../src/telemetry/index.ts";
import { sleep, systemRandom } from "../../src/time/index.ts";
import type { PostgresService } from "../../test/services/postgres.ts";
import { machineMs } from "../locks/machine-time.ts";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { bareInsertsPerSecond } from "./bare-inserts.ts";
import { append, clock, openJournal } from "./journals.ts";
import type { Measured, Plan } from "./plans.ts";

/** How fast what has waited in a journal comes to PostgreSQL, beside as many rows that are only inserted. */
export async function measureDrain(folder: string, plan: Plan, postgres: PostgresService): Promise<Measured> {
  await drained(folder, 5_000, await postgres.newDatabase());
  const rates: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    const seconds = await drained(folder, plan.drainEvents, await postgres.newDatabase());
    rates.push(plan.drainEvents / seconds);
    bare.push(await bareInsertsPerSecond(await postgres.newDatabase(), plan.drainEvents));
  }
  const seconds = await drained(folder, plan.catchUpEvents, await postgres.newDatabase());
  const million = seconds * (1_000_000 / plan.catchUpEvents);
  const measured = plan.catchUpEvents.toLocaleString("en");
  printTable(
    "From the journal to PostgreSQL",
    ["", ""],
    [
      ["rows/s", median(rates)],
      ["bare: the same rows, 500 at a time, no index, rows/s", median(bare)],
      [`${measured} rows after an outage, s`, seconds],
      ["  so for 1,000,000", million],
    ],
  );
  return {
    figures: { drainToPostgresPerSecond: median(rates), catchUpSecondsAfter1M: million },
    calibration: { bareInsertsPerSecond: median(bare), catchUpMeasuredOnRows: plan.catchUpEvents },
  };
}

/** Seconds from the start of a process with so many events in its journal until an empty database has them all. */
async function drained(folder: string, events: number, url: string): Promise<number> {
  const directory = mkdtempSync(join(folder, "drain-"));
  const before = await openJournal(directory);
  await append(before, 0, events);
  await before.close();

  const ledger = await openJournal(directory);
  const database = ledgerDatabase(postgresStore({ url }));
  const startedAt = machineMs();
  const shipped = shippedLedger({ ledger, database, clock, random: systemRandom(), log: silentLogger });
  while (shipped.lag().events > 0) await sleep(clock, 5);
  const seconds = (machineMs() - startedAt) / 1_000;
  await shipped.close();
  rmSync(directory, { recursive: true });
  return seconds;
}
