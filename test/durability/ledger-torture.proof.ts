import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readLedger, verifyLedger } from "../../src/ledger/index.ts";
import { Dice } from "../chaos/dice.ts";
import { sleepMs } from "../chaos/sleep-ms.ts";
import type { LedgerWriterPlan } from "./ledger-writer.ts";
import { WriterProcess } from "./writer-process.ts";

it("a ledger has every event that it acknowledged once when its writers are killed at full speed", {
  timeout: 120_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "interlock-ledger-torture-"));
  const dice = new Dice(1);
  const acknowledged = new Set<string>();
  const writers = ["w-1", "w-2"] as const;
  const living = { "w-1": await start(newProcess("w-1", 0)), "w-2": await start(newProcess("w-2", 0)) };

  for (let round = 1; round <= 5; round++) {
    const writer = dice.pick(writers);
    // It starts up while the one before it still writes.
    const next = newProcess(writer, round);
    await sleepMs(dice.between(0, 200));
    await living[writer].kill();
    // The other one is writing meanwhile.
    if (round === 3) expect((await verifyLedger(directory)).problems).toEqual([]);
    living[writer] = await start(next);
  }
  await Promise.all(writers.map((writer) => living[writer].kill()));

  const report = await verifyLedger(directory);
  const { ids, rows, heads } = await contents(directory);
  console.log(JSON.stringify({ acknowledged: acknowledged.size, rows, heads, writers: report.writers }));
  expect(report.problems).toEqual([]);
  expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
  expect(rows).toBe(report.writers.reduce((sum, writer) => sum + writer.rows, 0));
  expect(acknowledged.size).toBeGreaterThan(500);
  expect(heads).toBeGreaterThan(0);
  rmSync(directory, { recursive: true });

  function newProcess(writer: string, life: number): WriterProcess {
    const plan: LedgerWriterPlan = { directory, writer, life, seed: dice.seed() };
    return new WriterProcess("./ledger-writer.ts", plan);
  }

  async function start(process: WriterProcess): Promise<WriterProcess> {
    await new Promise<void>((resolve) => {
      process.start((line) => {
        const [verb, id] = line.split(" ");
        if (verb === "open") resolve();
        else acknowledged.add(id as string);
      });
    });
    return process;
  }
});

async function contents(directory: string) {
  const ids = new Set<string>();
  let heads = 0;
  for await (const { id, type } of readLedger(directory)) {
    ids.add(id);
    if (type === "ledger.heads") heads++;
  }
  return { ids, rows: ids.size, heads };
}
