import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { median } from "../locks/quantile.ts";
import { printTable } from "../locks/table.ts";
import { BareFile } from "../store/bare-file.ts";
import { append, openJournal } from "./journals.ts";
import type { Measured, Plan } from "./plans.ts";

/** So many rows the bare file makes durable at a time: as many as callers wait. */
const together = 256;

/** How many events a journal takes, each durable before its answer, beside a file that only appends and syncs. */
export async function measureJournal(folder: string, plan: Plan): Promise<Measured> {
  const directory = mkdtempSync(join(folder, "journal-"));
  const ledger = await openJournal(directory);
  await append(ledger, 0, 5_000);
  const bytes = rowBytes(join(directory, "w-bench"));
  const file = await BareFile.open(folder, together * bytes);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    ours.push(await append(ledger, 5_000 + round * plan.journalEvents, plan.journalEvents));
    bare.push(together * (await file.appendsPerSecond(Math.ceil(plan.journalEvents / together))));
  }
  await file.close();
  await ledger.close();
  printTable(
    `Journal, 256 callers, rows of ${bytes} bytes`,
    ["", "events/s"],
    [
      ["each durable when answered", median(ours)],
      ["bare: 256 rows appended, one sync", median(bare)],
    ],
  );
  return {
    figures: { journalEventsPerSecond: median(ours) },
    calibration: { bareJournalEventsPerSecond: median(bare), rowBytes: bytes },
  };
}

function rowBytes(directory: string): number {
  const [segment = ""] = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  return Buffer.byteLength(readFileSync(join(directory, segment), "utf8").split("\n")[0] ?? "") + 1;
}
