import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../config/index.ts";
import type { LedgerEvent } from "../ledger/index.ts";
import { promMetrics, silentLogger } from "../telemetry/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { openLedger, readRecorded } from "./ledger.ts";

describe("the recorded events of a target", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "interlock-recorded-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("are the newest that match, oldest first, however long the history is", async () => {
    const loaded = loadConfig({ env: {} });
    if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
    const tools = { clock: systemClock(), random: systemRandom(), log: silentLogger, metrics: promMetrics() };
    const ledger = await openLedger({ loaded, directory, ...tools });
    await Promise.all(Array.from({ length: 1_200 }, (_, i) => ledger.append(event(i))));
    await ledger.close();
    let compared = 0;
    const matches = ({ facts }: LedgerEvent) => ++compared > 0 && Number(facts["number"]) % 2 === 0;

    const found = await readRecorded({ subject: { target: "node/one" }, matches, max: 3 }, { loaded, directory });

    expect(found?.map(({ facts }) => facts["number"])).toEqual([1_194, 1_196, 1_198]);
    expect(compared).toBe(6);
  });
});

function event(number: number): LedgerEvent {
  const at = new Date(Date.parse("2026-03-01T12:00:00.000Z") + number).toISOString();
  return { id: `event-${number}`, type: "execution.started", at, facts: { target_resource: "node/one", number } };
}
