import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type LedgerDatabase,
  ledgerDatabase,
  postgresStore,
  sqliteStore,
  verifyDatabase,
} from "../../src/ledger/index.ts";
import { bundle } from "../services/bundle.ts";
import { type PostgresService, startPostgres } from "../services/postgres.ts";
import type { MortalShipperPlan } from "./mortal-shipper.ts";

let postgres: PostgresService;
let root: string;
let program: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "interlock-shipper-"));
  program = await bundle(new URL("./mortal-shipper.ts", import.meta.url), join(root, "mortal-shipper.mjs"));
  postgres = await startPostgres();
});

afterAll(async () => {
  await postgres.stop();
  rmSync(root, { recursive: true });
});

describe("a shipper that is killed at any step", () => {
  it.each(["SQLite", "PostgreSQL"] as const)("loses and doubles nothing in %s", { timeout: 120_000 }, async (kind) => {
    const directory = join(root, kind);
    const url = kind === "PostgreSQL" ? await postgres.newDatabase() : undefined;
    const kept = new Set<string>();
    let deaths = 0;

    for (let diesAt = 1, hasSurvived = false; !hasSurvived; diesAt++) {
      const printed = await live({ directory, ...(url && { url }), life: diesAt, diesAt });
      for (const line of printed) if (line.startsWith("kept ")) kept.add(line.slice(5));
      hasSurvived = printed.includes("survived");
      if (!hasSurvived) deaths++;
    }

    const database = ledgerDatabase(url ? postgresStore({ url }) : sqliteStore(join(directory, "ledger.sqlite")));
    const ids = await idsIn(database);
    const report = await verifyDatabase(database);
    await database.close();
    expect(deaths).toBeGreaterThan(6);
    expect(report.problems).toEqual([]);
    expect([...kept].filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(report.writers).toMatchObject([{ rows: ids.length }]);
  });
});

/** The output of a process until its end. */
function live(plan: MortalShipperPlan): Promise<string[]> {
  const child = spawn(process.execPath, [program, JSON.stringify(plan)], { stdio: ["pipe", "pipe", "inherit"] });
  const printed: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => printed.push(line));
  child.stdin.write("go\n");
  return new Promise((resolve) => child.once("close", () => resolve(printed)));
}

async function idsIn(database: LedgerDatabase): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of database.events({})) ids.push(id);
  return ids;
}
