import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { commands, openLedger } from "../../src/app/index.ts";
import { printTo } from "../../src/cli/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { type Ledger, openFileLedger, sqliteStore } from "../../src/ledger/index.ts";
import { incidentName } from "../../src/resources/index.ts";
import { promMetrics, silentLogger } from "../../src/telemetry/index.ts";
import { type Clock, systemClock, systemRandom } from "../../src/time/index.ts";
import { type PostgresService, query, startPostgres } from "../services/postgres.ts";

let postgres: PostgresService;
let root: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "interlock-audit-"));
  postgres = await startPostgres();
});

afterAll(async () => {
  await postgres.stop();
  rmSync(root, { recursive: true });
});

describe.each(["SQLite", "PostgreSQL"] as const)("interlock audit, on %s", (kind) => {
  let place: Place;

  beforeEach(async () => {
    const directory = mkdtempSync(join(root, "data-"));
    place = { directory, env: kind === "PostgreSQL" ? { LEDGER_URL: await postgres.newDatabase() } : {} };
    await tellStory(place);
  });

  it("verify finds nothing wrong, and says what it looked at", async () => {
    const { status, lines } = await audit(place, "verify");

    expect(lines).toEqual([
      expect.stringMatching(/(ledger\.sqlite|PostgreSQL at 127\.0\.0\.1:\d+\/ledger_\d+): 4 rows of 1 writer/),
      `${join(place.directory, "ledger")}: 4 rows of 1 writer`,
      "every row is what was written, and none is missing",
    ]);
    expect(status).toBe(0);
  });

  it("verify finds a row of the database that was changed", async () => {
    await meddle(place, "UPDATE ledger_rows SET line = replace(line, 'ResourceBusy', 'NothingBusy') WHERE seq = 3");

    const { status, lines } = await audit(place, "verify");

    expect(lines).toContainEqual(expect.stringMatching(/^changed: .* line 3: row 3 is not what was written$/));
    expect(status).toBe(1);
    expect((await audit(place, "verify", "--from", "journal")).status).toBe(0);
  });

  it("verify finds a line of the journal that was changed", async () => {
    const [writer = ""] = readdirSync(join(place.directory, "ledger")).filter((name) => name.startsWith("w-"));
    const file = join(place.directory, "ledger", writer, "0000000000000001.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").replace("wfe-2", "wfe-9"));

    const { status, lines } = await audit(place, "verify");

    expect(lines).toContainEqual(`changed: ${file} line 3: row 3 is not what was written`);
    expect(status).toBe(1);
  });

  it("verify finds that the database lacks what the journal no longer has", async () => {
    const [writer = ""] = readdirSync(join(place.directory, "ledger")).filter((name) => name.startsWith("w-"));
    const file = join(place.directory, "ledger", writer, "0000000000000001.jsonl");
    const lines = readFileSync(file, "utf8").split("\n");
    rmSync(file);
    writeFileSync(file.replace("01.jsonl", "04.jsonl"), `${lines.slice(3).join("\n")}`);
    expect((await audit(place, "verify")).status).toBe(0);

    await meddle(place, "DELETE FROM ledger_rows WHERE seq >= 3");

    expect((await audit(place, "verify")).lines).toContainEqual(expect.stringContaining("line 3: row 3 of writer"));
  });

  it.each([
    [
      ["--target", "prod/Deployment/api"],
      [2, 3],
    ],
    [["prod/deploy/api"], [2, 3]],
    [
      ["--incident", "rr-1"],
      [1, 2],
    ],
    [["--execution", "wfe-2"], [3]],
    [["--execution", "ns/wfe-2"], [3]],
    [["--type", "run.created"], [4]],
    [
      ["--since", "2026-11-15T10:00:03Z"],
      [3, 4],
    ],
    [
      ["--until", "2026-11-15T10:00:03Z"],
      [1, 2],
    ],
    [["--since", "1s"], []],
    [[], [1, 2, 3, 4]],
  ])("export %j gives JSON lines, the same from database and journal", async (filters, seqs) => {
    const { lines } = await audit(place, "export", ...filters);
    const journal = await audit(place, "export", ...filters, "--from", "journal");

    const rows = lines.map((line) => JSON.parse(line));
    expect(rows.map(({ seq }) => seq)).toEqual(seqs);
    expect(journal.lines).toEqual(lines);
    for (const row of rows) expect(row).toMatchObject({ writer: expect.any(String), hash: expect.any(String) });
  });

  it("show tells people what happened to a target and why", async () => {
    const { lines } = await audit(place, "show", "prod/deployment/api");

    expect(lines[1]).toBe(
      "2026-11-15T10:00:03.000Z  execution.skipped     prod/deployment/api  restart  ns/wfe-2  ResourceBusy  held by wfe-1",
    );
  });

  it("show and export know names that are cut short, and show says when there is nothing", async () => {
    const incident = incidentName("v1:abc", 1);
    const ledger = await openPlace(place);
    await ledger.append({ id: "5", type: "incident.closed", at: at(5), facts: { remediation_id: incident } });
    await ledger.close();

    const short = incident.replace(/^rr-(.{8}).*-1$/, "rr-$1-1");
    expect((await audit(place, "show", "--incident", short)).lines).toEqual([
      `${at(5)}  incident.closed       ${short}`,
    ]);
    expect((await audit(place, "export", "--incident", short)).lines).toHaveLength(1);
    expect((await audit(place, "show", "--incident", "rr-nobody-1")).lines).toEqual(["nothing that fits is recorded"]);
    expect((await audit(place, "export", "--incident", "rr-nobody-1")).lines).toEqual([]);
  });

  it("ship brings over what a process left that does not run any more, and leaves others alone", async () => {
    const directory = join(place.directory, "ledger");
    const clock = systemClock();
    await leave(directory, "w-dead", 3);
    const living = await openFileLedger({ directory, writer: "w-living", clock });

    const { status, lines } = await audit(place, "ship");

    expect(lines).toContainEqual(expect.stringMatching(/^w-dead: 3 rows brought to /));
    expect(lines).toContain("w-living: its process runs, and brings over what is left by itself");
    expect(lines.filter((line) => line.endsWith(": nothing is left"))).toHaveLength(1);
    expect(status).toBe(0);
    await living.close();
    expect((await audit(place, "export")).lines).toHaveLength(7);
    expect((await audit(place, "verify")).status).toBe(0);
    expect((await audit(place, "ship")).lines).toContain("w-dead: nothing is left");
  });

  it("is not needed for what was left long ago: the next process brings it over by itself", async () => {
    const directory = join(place.directory, "ledger");
    await leave(directory, "w-dead", 3);
    await leave(directory, "w-just-killed", 3);
    const longAgo = Date.now() / 1_000 - 600;
    utimesSync(join(directory, "w-dead", "0000000000000001.jsonl"), longAgo, longAgo);

    const ledger = await openPlace(place);
    await expect.poll(async () => (await audit(place, "export")).lines.length).toBe(7);
    await ledger.close();

    const writers = (await audit(place, "export")).lines.map((line) => JSON.parse(line).writer);
    expect(writers.filter((writer) => writer === "w-dead")).toHaveLength(3);
    expect(writers).not.toContain("w-just-killed");
  });

  it("does not keep a process from starting whose journal is being brought over just then", async () => {
    const [writer = ""] = readdirSync(join(place.directory, "ledger")).filter((name) => name.startsWith("w-"));
    const other = await openFileLedger({ directory: join(place.directory, "ledger"), writer, clock: systemClock() });
    const clock = systemClock();
    let waits = 0;
    const whenItWaits: Clock["after"] = (ms, wake, how) => {
      if (ms !== 500) return clock.after(ms, wake, how);
      waits++;
      return clock.after(0, () => void other.close().then(wake));
    };

    const ledger = await openPlace(place, { now: clock.now, wallMs: clock.wallMs, after: whenItWaits });

    await ledger.close();
    expect(waits).toBe(1);
  });

  it.each([
    [["verify", "--from", "memory"], "--from can be database or journal"],
    [["export", "--type", "run.imagined"], "nothing of the type run.imagined is recorded"],
    [["export", "--since", "yesterday"], "--since yesterday is no time"],
    [["destroy"], "say show, export, verify or ship"],
  ])("%j is refused with a word of help", async (args, message) => {
    await expect(audit(place, ...args)).rejects.toThrow(message);
  });
});

describe("interlock audit", () => {
  it("says so where there is no ledger, and makes none", async () => {
    const directory = join(root, "nowhere");

    await expect(audit({ directory, env: {} }, "verify")).rejects.toThrow(`there is no ledger in ${directory}/ledger`);

    expect(readdirSync(root)).not.toContain("nowhere");
  });

  it("prints no password when the database is away", async () => {
    const env = { LEDGER_URL: `postgres://interlock:${postgres.password}@127.0.0.1:1/ledger` };

    const error = await audit({ directory: root, env }, "verify").catch((error) => error);

    expect(error.message).toContain("PostgreSQL at 127.0.0.1:1/ledger cannot be used");
    expect(error.message).not.toContain(postgres.password);
  });
});

interface Place {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A journal of which the database has nothing. */
async function leave(directory: string, writer: string, rows: number) {
  const ledger = await openFileLedger({ directory, writer, clock: systemClock() });
  for (let i = 1; i <= rows; i++) {
    await ledger.append({ id: `${writer}-${i}`, type: "run.created", at: at(5), facts: { i } });
  }
  await ledger.close();
}

async function openPlace({ directory, env }: Place, clock: Clock = systemClock()): Promise<Ledger> {
  const loaded = loadConfig({ env });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join());
  const options = { clock, random: systemRandom(), log: silentLogger, metrics: promMetrics() };
  return openLedger({ loaded, directory, ...options });
}

/** What four events of an ordinary day look like, in the journal and in the database. */
async function tellStory(place: Place) {
  const ledger = await openPlace(place);
  const api = { target_resource: "prod/deployment/api", workflow_id: "restart" };
  const busy = { skip_reason: "ResourceBusy", message: "held by wfe-1" };
  const first = { ...api, execution: "ns/wfe-1", remediation_id: "rr-1" };
  await ledger.append({ id: "1", type: "incident.created", at: at(1), facts: { remediation_id: "rr-1" } });
  await ledger.append({ id: "2", type: "execution.started", at: at(2), facts: first });
  await ledger.append({
    id: "3",
    type: "execution.skipped",
    at: at(3),
    facts: { ...api, execution: "ns/wfe-2", ...busy },
  });
  await ledger.append({ id: "4", type: "run.created", at: at(4), facts: { target_resource: "node/one" } });
  // Closing brings to the database what is left.
  await ledger.close();
}

function at(second: number): string {
  return `2026-11-15T10:00:0${second}.000Z`;
}

async function audit({ directory, env }: Place, ...args: readonly string[]) {
  const command = Object.values(commands)
    .flat()
    .find(({ name }) => name === "audit");
  const lines: string[] = [];
  const status = await command?.perform([...args, "--data", directory], {
    clock: systemClock(),
    random: systemRandom(),
    metrics: promMetrics(),
    env,
    terminal: {
      ...printTo({ write: (text) => lines.push(text.slice(0, -1)), isTerminal: true }),
      id: () => "x",
      user: "kim",
    },
  });
  return { status, lines };
}

async function meddle({ directory, env }: Place, sql: string) {
  if (env["LEDGER_URL"]) return void (await query(env["LEDGER_URL"], sql));
  const store = sqliteStore(join(directory, "ledger", "ledger.sqlite"), { waitMs: 1_000 });
  await store.query(sql, []);
  await store.close();
}
