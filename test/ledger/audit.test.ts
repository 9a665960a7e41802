import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openLedger } from "../../src/app/index.ts";
import { printTo } from "../../src/cli/output/terminal.ts";
import { interlock } from "../../src/cli/program.ts";
import { loadConfig } from "../../src/config/index.ts";
import { chain } from "../../src/ledger/database/ledger-database.contract.ts";
import {
  type Ledger,
  type LedgerEvent,
  type LedgerEventType,
  ledgerDatabase,
  openFileLedger,
  postgresStore,
  sqliteStore,
} from "../../src/ledger/index.ts";
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

  it("verify finds no problem, and lists the checked writers", async () => {
    const { status, lines } = await audit(place, "verify");

    expect(lines).toEqual([
      expect.stringMatching(/(ledger\.sqlite|PostgreSQL at 127\.0\.0\.1:\d+\/ledger_\d+): 4 rows of 1 writer/),
      `${join(place.directory, "ledger")}: 4 rows of 1 writer`,
      "every row is unchanged, and none is missing",
    ]);
    expect(status).toBe(0);
  });

  it("verify finds a row of the database that was changed", async () => {
    await meddle(place, "UPDATE ledger_rows SET line = replace(line, 'ResourceBusy', 'NothingBusy') WHERE seq = 3");

    const { status, lines } = await audit(place, "verify");

    expect(lines).toContainEqual(expect.stringMatching(/^changed: .* line 3: row 3 was changed$/));
    expect(status).toBe(1);
    expect((await audit(place, "verify", "--from", "journal")).status).toBe(0);
  });

  it("verify finds a line of the journal that was changed", async () => {
    const [writer = ""] = readdirSync(join(place.directory, "ledger")).filter((name) => name.startsWith("w-"));
    const file = join(place.directory, "ledger", writer, "0000000000000001.jsonl");
    writeFileSync(file, readFileSync(file, "utf8").replace("wfe-2", "wfe-9"));

    const { status, lines } = await audit(place, "verify");

    expect(lines).toContainEqual(`changed: ${file} line 3: row 3 was changed`);
    expect(status).toBe(1);
  });

  it("verify finds that the database lacks rows that the journal no longer has", async () => {
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
    [["rr-1"], [1, 2]],
    [["incident/rr-1"], [1, 2]],
    [["wfe-2"], [3]],
    [["nothing"], []],
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

  it("show prints the history of a target with reasons", async () => {
    const { lines } = await audit(place, "show", "prod/deployment/api");

    expect(lines[1]).toBe(
      "2026-11-15T10:00:03.000Z  execution.skipped     prod/deployment/api  restart  ns/wfe-2  ResourceBusy  held by wfe-1",
    );
  });

  it("show prints who paused, resumed, approved, rejected, acknowledged and cancelled, and why", async () => {
    const pause = { pause: "kubernaut-system/release", scope: "everything" };
    const onNode = { target_resource: "node/two", workflow_id: "reboot" };
    const kim = { by: "kim", verified: true };
    const ledger = await openPlace(place);
    const rows: readonly [LedgerEventType, LedgerEvent["facts"]][] = [
      ["pause.started", { ...pause, by: "kim", reason: "release 4", verified: false }],
      ["pause.ended", { ...pause, ...kim, reason: "it is out" }],
      ["approval.answered", { ...onNode, approval: "reboot-a", decision: "Approved", ...kim, reason: "looked" }],
      ["approval.answered", { ...onNode, approval: "reboot-b", decision: "Rejected", ...kim, reason: "too early" }],
      ["failure.acknowledged", { ...onNode, execution: "ns/wfe-7", ...kim, reason: "cleaned up" }],
      [
        "execution.cancelled",
        { ...onNode, execution: "ns/wfe-8", by: "eve (unverified)", verified: false, reason: "no" },
      ],
      ["incident.cancelled", { remediation_id: "rr-7", ...kim, reason: "false alarm" }],
    ];
    for (const [i, [type, facts]] of rows.entries()) await ledger.append({ id: `op-${i}`, type, at: at(6), facts });
    await ledger.close();

    const { lines } = await typed("ledger", place, "show", "--since", at(6));

    expect(lines).toEqual([
      `${at(6)}  pause.started         kubernaut-system/release  by kim (unverified)  release 4`,
      `${at(6)}  pause.ended           kubernaut-system/release  by kim (verified)  it is out`,
      `${at(6)}  approval.answered     node/two  reboot  reboot-a  by kim (verified)  Approved  looked`,
      `${at(6)}  approval.answered     node/two  reboot  reboot-b  by kim (verified)  Rejected  too early`,
      `${at(6)}  failure.acknowledged  node/two  reboot  ns/wfe-7  by kim (verified)  cleaned up`,
      `${at(6)}  execution.cancelled   node/two  reboot  ns/wfe-8  by eve (unverified)  no`,
      `${at(6)}  incident.cancelled    rr-7  by kim (verified)  false alarm`,
    ]);
    expect((await audit(place, "show", "--since", at(6))).lines).toEqual(lines);
  });

  it("show and export accept prefixes of names, and show reports when there is nothing", async () => {
    const incident = incidentName("v1:abc", 1);
    const ledger = await openPlace(place);
    await ledger.append({ id: "5", type: "incident.closed", at: at(5), facts: { remediation_id: incident } });
    await ledger.close();

    const short = incident.replace(/^rr-(.{8}).*-1$/, "rr-$1-1");
    expect((await audit(place, "show", "--incident", short)).lines).toEqual([
      `${at(5)}  incident.closed       ${short}`,
    ]);
    expect((await audit(place, "export", "--incident", short)).lines).toHaveLength(1);
    expect((await audit(place, "show", "--incident", "rr-nobody-1")).lines).toEqual(["no event matches"]);
    expect((await audit(place, "export", "--incident", "rr-nobody-1")).lines).toEqual([]);
  });

  it("ship ships the rows of a process that no longer runs, and leaves others alone", async () => {
    const directory = join(place.directory, "ledger");
    const clock = systemClock();
    await leave(directory, "w-dead", 3);
    const living = await openFileLedger({ directory, writer: "w-living", clock });

    const { status, lines } = await audit(place, "ship");

    expect(lines).toContainEqual(expect.stringMatching(/^w-dead: 3 rows shipped to /));
    expect(lines).toContain("w-living: its process is running and ships the remaining rows itself");
    expect(lines.filter((line) => line.endsWith(": nothing is left"))).toHaveLength(1);
    expect(status).toBe(0);
    await living.close();
    expect((await audit(place, "export")).lines).toHaveLength(7);
    expect((await audit(place, "verify")).status).toBe(0);
    expect((await audit(place, "ship")).lines).toContain("w-dead: nothing is left");
  });

  it("is not needed for old journals: the next process ships them by itself", async () => {
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
    [["verify", "--from", "memory"], "Allowed choices are database, journal; see interlock help ledger"],
    [["export", "--type", "run.imagined"], "unknown event type run.imagined"],
    [["export", "--since", "yesterday"], "--since yesterday is not a time"],
    [["destroy"], "unknown command 'destroy'; see interlock help ledger"],
  ])("%j is refused with a word of help", async (args, message) => {
    await expect(audit(place, ...args)).rejects.toThrow(message);
  });
});

describe.each(["SQLite", "PostgreSQL"] as const)(
  "interlock audit verify compares journal and database, on %s:",
  (kind) => {
    let place: Place;

    beforeEach(async () => {
      place = await newPlace(kind);
      await tellStory(place);
    });

    it("it finds database rows that were rewritten with new hashes while the journal is intact", async () => {
      await rewriteDatabase(place, await forgedRows(place));

      expect((await audit(place, "verify", "--from", "database")).status).toBe(0);
      const { status, lines } = await audit(place, "verify");

      expect(status).toBe(1);
      expect(lines).toContainEqual(
        expect.stringMatching(/^changed: .* line 3: row 3 is not the one in .*\.jsonl line 3/),
      );
      expect(lines).toContainEqual(expect.stringMatching(/^changed: .* line 4: row 4 is not the one in/));
      expect(lines.join("\n")).not.toMatch(/row 2 is not/);
    });

    it("it finds a truncated database tail", async () => {
      await meddle(place, "DELETE FROM ledger_rows WHERE seq >= 3");

      expect((await audit(place, "verify", "--from", "database")).status).toBe(0);
      const { status, lines } = await audit(place, "verify");

      expect(status).toBe(1);
      expect(lines).toContainEqual(
        expect.stringMatching(/^missing: .*: rows 3 to 4 are in .* and not in the database/),
      );
    });

    it("it finds an empty database", async () => {
      await meddle(place, "DELETE FROM ledger_rows");

      expect((await audit(place, "verify")).lines).toContainEqual(expect.stringContaining("rows 1 to 4 are in"));
    });

    it("it finds a journal that is shorter than the database", async () => {
      const { file, rows } = journalOf(place);
      writeFileSync(file, rows.slice(0, 2).join(""));

      expect((await audit(place, "verify", "--from", "journal")).status).toBe(0);
      const { status, lines } = await audit(place, "verify");

      expect(status).toBe(1);
      expect(lines).toContainEqual(
        expect.stringMatching(
          /^missing: .*: the journal ends with row 2, but .* has row 4, which was in the journal first$/,
        ),
      );
    });

    it("it finds a journal that was emptied", async () => {
      rmSync(journalOf(place).file);

      expect((await audit(place, "verify")).lines).toContainEqual(
        expect.stringContaining("the journal ends with row 0"),
      );
    });

    it.each([
      ["other facts", { facts: { target_resource: "node/two" } }],
      ["an earlier time", { at: "2026-11-15T08:00:00.000Z" }],
      ["another type", { type: "run.cancelled" as const }],
    ])("it finds an invented writer that claims an existing event id, with %s", async (_what, changes) => {
      const claim: LedgerEvent = { id: "4", type: "run.created", at: at(4), facts: { target_resource: "node/one" } };
      await addRows(place, chain("w-invented", [{ ...claim, ...changes }]));

      const { status, lines } = await audit(place, "verify");

      expect(status).toBe(1);
      expect(lines).toContainEqual(
        expect.stringMatching(
          /^contradicted: .*, writer w-invented line 1: event 4 of writer w-invented contradicts row 4 of/,
        ),
      );
    });

    it("it accepts an event that a replica with a journal of its own recorded again", async () => {
      const directory = join(place.directory, "ledger");
      const replica = await openFileLedger({ directory, writer: "w-replica", clock: systemClock() });
      await replica.append({
        id: "4",
        type: "run.created",
        at: at(9),
        facts: { target_resource: "node/one", late: true },
      });
      await replica.close();
      await audit(place, "ship");

      const { status, lines } = await audit(place, "verify");

      expect(lines).toContain("1 event was recorded by more than one writer");
      expect(status).toBe(0);
    });

    if (kind === "SQLite") {
      it("it finds a writer without a journal beside the database, for any claim", async () => {
        await addRows(place, chain("w-invented", [{ id: "new", type: "run.created", at: at(4), facts: {} }]));

        const { status, lines } = await audit(place, "verify");

        expect(status).toBe(1);
        expect(lines).toContainEqual(expect.stringContaining("w-invented has rows in"));
      });
    }

    it("external text is inert in what show, export and verify print", async () => {
      const hostile = "x\u001b]0;x\u0007\u009b2J\u202e\r\n2026-11-15T10:00:09.000Z  run.created  FORGED";
      const ledger = await openPlace(place);
      await ledger.append({
        id: hostile,
        type: "run.created",
        at: at(5),
        facts: { target_resource: hostile, message: hostile },
      });
      await ledger.close();
      await addRows(place, chain("w-invented", [{ id: hostile, type: "run.created", at: at(6), facts: {} }]));

      const shown = await audit(place, "show");
      const exported = await audit(place, "export");
      const verified = await audit(place, "verify");

      for (const { lines } of [shown, exported, verified]) {
        expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
        expect(lines.join("\n")).toContain(String.raw`\r\n2026-11-15T10:00:09.000Z`);
      }
      expect(shown.lines).toHaveLength(5);
      expect(exported.lines.map((line) => JSON.parse(line).id)).toContain(hostile);
    });
  },
);

describe.each(["SQLite", "PostgreSQL"] as const)("a signed checkpoint, on %s,", (kind) => {
  let place: Place;
  let key: string;
  let out: string;

  beforeEach(async () => {
    const plain = await newPlace(kind);
    key = join(plain.directory, "checkpoint-key");
    out = join(plain.directory, "elsewhere", "checkpoints");
    await typed("ledger", plain, "keygen", "--out", key);
    await tellStory(plain);
    place = { ...plain, env: { ...plain.env, LEDGER_CHECKPOINT_KEY_FILE: key } };
  });

  it("proves that nothing before it was changed or removed", async () => {
    const file = await newCheckpoint();
    const ledger = await openPlace(place);
    await ledger.append({ id: "5", type: "run.created", at: at(5), facts: {} });
    await ledger.close();

    for (const from of [[], ["--from", "database"], ["--from", "journal"]]) {
      const { status, lines } = await audit(place, "verify", "--checkpoint", file, "--key", `${key}.pub`, ...from);
      expect(lines).toContainEqual(
        expect.stringMatching(/^nothing was changed or removed before .*: all 4 rows of 1 writer/),
      );
      expect(status).toBe(0);
    }
  });

  it("finds journal and database rewritten together, which nothing else finds", async () => {
    const file = await newCheckpoint();
    const forged = await forgedRows(place);
    await rewriteDatabase(place, forged);
    writeFileSync(journalOf(place).file, forged.map(({ line }) => `${line}\n`).join(""));

    expect((await audit(place, "verify")).status).toBe(0);
    for (const from of [[], ["--from", "database"], ["--from", "journal"]]) {
      const { status, lines } = await audit(place, "verify", "--checkpoint", file, ...from);
      expect(lines).toContainEqual(
        expect.stringMatching(/^changed: .*: row 4 of writer .* is not the one in the checkpoint/),
      );
      expect(status).toBe(1);
    }
  });

  it("finds the ends of journal and database removed together, which nothing else finds", async () => {
    const file = await newCheckpoint();
    await meddle(place, "DELETE FROM ledger_rows WHERE seq >= 3");
    const { file: journal, rows } = journalOf(place);
    writeFileSync(journal, rows.slice(0, 2).join(""));

    expect((await audit(place, "verify")).status).toBe(0);
    const { status, lines } = await audit(place, "verify", "--checkpoint", file);

    expect(lines).toContainEqual(
      expect.stringMatching(/^missing: .*: the checkpoint has row 4 of writer .*, but the chain ends with row 2$/),
    );
    expect(status).toBe(1);
  });

  it("finds a writer that was removed altogether", async () => {
    const file = await newCheckpoint();
    await meddle(place, "DELETE FROM ledger_rows");
    rmSync(join(journalOf(place).file, ".."), { recursive: true });

    expect((await audit(place, "verify")).status).toBe(0);
    expect((await audit(place, "verify", "--checkpoint", file)).status).toBe(1);
  });

  it("is refused if it was changed, or if its key is not trusted", async () => {
    const file = await newCheckpoint();
    const other = join(place.directory, "other-key");
    await typed("ledger", place, "keygen", "--out", other);
    const changed = join(place.directory, "changed.json");
    writeFileSync(changed, readFileSync(file, "utf8").replace('"seq":4', '"seq":3'));

    await expect(audit(place, "verify", "--checkpoint", changed)).rejects.toThrow("its signature is wrong");
    await expect(audit(place, "verify", "--checkpoint", file, "--key", `${other}.pub`)).rejects.toThrow(
      "is not trusted",
    );
    const keyless = { ...place, env: { ...place.env, LEDGER_CHECKPOINT_KEY_FILE: "" } };
    await expect(audit(keyless, "verify", "--checkpoint", file)).rejects.toThrow("no key is trusted");
  });

  it("is not signed for a ledger that was rewritten since the last one", async () => {
    await newCheckpoint();
    await rewriteDatabase(place, await forgedRows(place));

    const { status, lines } = await typed("ledger", place, "checkpoint", "--out", out);

    expect(lines[0]).toMatch(/^changed: .*: row 4 of writer .* is not the one in the newest checkpoint$/);
    expect(status).toBe(1);
    expect(readdirSync(out)).toHaveLength(1);
  });

  it("is written to a new file each time something was recorded, and replaces none", async () => {
    const file = await newCheckpoint();
    const text = readFileSync(file, "utf8");
    expect((await typed("ledger", place, "checkpoint", "--out", out)).lines).toEqual([
      `nothing was recorded since ${file}`,
    ]);
    const ledger = await openPlace(place);
    await ledger.append({ id: "5", type: "run.created", at: at(5), facts: {} });
    await ledger.close();

    const next = await newCheckpoint();

    expect(next).not.toBe(file);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(out)).toHaveLength(2);
  });

  it("ledger.checkpointTrustedKeysFile: those of a key before the rotation still count", async () => {
    const file = await newCheckpoint();
    const rotated = join(place.directory, "rotated-key");
    await typed("ledger", place, "keygen", "--out", rotated);
    const now = { ...place, env: { ...place.env, LEDGER_CHECKPOINT_KEY_FILE: rotated } };
    await expect(audit(now, "verify", "--checkpoint", file)).rejects.toThrow("is not trusted");

    const trusting = { ...now, env: { ...now.env, LEDGER_CHECKPOINT_TRUSTED_KEYS_FILE: `${key}.pub` } };

    expect((await audit(trusting, "verify", "--checkpoint", file)).status).toBe(0);
  });

  async function newCheckpoint(): Promise<string> {
    const { status, lines } = await typed("ledger", place, "checkpoint", "--out", out);
    expect(status).toBe(0);
    const [, file = ""] = /^(.*\.json): the heads of 1 writers?$/.exec(lines[0] ?? "") ?? [];
    return file;
  }
});

describe("settings of checkpoints", () => {
  let directory: string;
  let key: string;
  let out: string;

  beforeEach(async () => {
    directory = mkdtempSync(join(root, "data-"));
    key = join(directory, "key");
    out = join(directory, "checkpoints");
    await typed("ledger", { directory, env: {} }, "keygen", "--out", key);
  });

  it("ledger.checkpointDir and checkpointKeyFile: a process exports a checkpoint by itself", async () => {
    const place = { directory, env: { LEDGER_CHECKPOINT_DIR: out, LEDGER_CHECKPOINT_KEY_FILE: key } };
    await tellStory({ directory, env: {} });

    const ledger = await openPlace(place);
    await expect.poll(() => checkpointsIn(out)).toHaveLength(1);
    await ledger.close();

    const [file = ""] = checkpointsIn(out);
    expect((await audit(place, "verify", "--checkpoint", join(out, file))).status).toBe(0);
  });

  it("ledger.checkpointInterval: and another when it is over and something was recorded", async () => {
    const env = { LEDGER_CHECKPOINT_DIR: out, LEDGER_CHECKPOINT_KEY_FILE: key, LEDGER_CHECKPOINT_INTERVAL: "3h" };
    await tellStory({ directory, env: {} });
    const clock = systemClock();
    let next: (() => void) | undefined;
    const hold: Clock["after"] = (ms, wake, how) => {
      if (ms !== 10_800_000) return clock.after(ms, wake, how);
      next = wake;
      return { cancel() {}, setBackground() {} };
    };
    const ledger = await openPlace({ directory, env }, { now: clock.now, wallMs: clock.wallMs, after: hold });
    await expect.poll(() => next !== undefined).toBe(true);
    expect(checkpointsIn(out)).toHaveLength(1);
    await ledger.append({ id: "5", type: "run.created", at: at(5), facts: {} });
    await expect.poll(async () => (await audit({ directory, env: {} }, "export")).lines.length).toBe(5);

    next?.();

    await expect.poll(() => checkpointsIn(out)).toHaveLength(2);
    await ledger.close();
  });

  it("ledger.checkpointKey: the key itself, such as from a Secret", async () => {
    const place = { directory, env: { LEDGER_CHECKPOINT_DIR: out, LEDGER_CHECKPOINT_KEY: readFileSync(key, "utf8") } };
    await tellStory({ directory, env: {} });

    expect((await typed("ledger", place, "checkpoint")).status).toBe(0);
    expect(checkpointsIn(out)).toHaveLength(1);
  });

  it("ledger.checkpointKeyFile: one that other users can read stops the start", async () => {
    chmodSync(key, 0o644);
    const env = { LEDGER_CHECKPOINT_DIR: out, LEDGER_CHECKPOINT_KEY_FILE: key };

    await expect(openPlace({ directory, env })).rejects.toThrow("can be read by other users");
  });

  it("ledger.checkpointDir: without a key is a problem of the configuration", () => {
    const loaded = loadConfig({ env: { LEDGER_CHECKPOINT_DIR: out } });

    expect(loaded).toMatchObject({ kind: "invalid", problems: [expect.stringContaining("ledger.checkpointKey")] });
  });
});

describe("interlock audit", () => {
  it("is the same as interlock ledger", async () => {
    const place = await newPlace("SQLite");
    await tellStory(place);

    expect(await typed("ledger", place, "export")).toEqual(await audit(place, "export"));
  });

  it("reports a missing ledger, and creates none", async () => {
    const directory = join(root, "nowhere");

    await expect(audit({ directory, env: {} }, "verify")).rejects.toThrow(`no ledger in ${directory}/ledger`);

    expect(readdirSync(root)).not.toContain("nowhere");
  });

  it("prints no password when the database is away", async () => {
    const env = { LEDGER_URL: `postgres://interlock:${postgres.password}@127.0.0.1:1/ledger` };

    const error = await audit({ directory: root, env }, "verify").catch((error) => error);

    expect(error.message).toContain("PostgreSQL at 127.0.0.1:1/ledger cannot be used");
    expect(error.message).not.toContain(postgres.password);
  });
});

function checkpointsIn(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".json")) : [];
}

async function newPlace(kind: "SQLite" | "PostgreSQL"): Promise<Place> {
  const directory = mkdtempSync(join(root, "data-"));
  return { directory, env: kind === "PostgreSQL" ? { LEDGER_URL: await postgres.newDatabase() } : {} };
}

/** The journal of the only writer, and its lines. */
function journalOf({ directory }: Place) {
  const [writer = ""] = readdirSync(join(directory, "ledger")).filter((name) => name.startsWith("w-"));
  const file = join(directory, "ledger", writer, "0000000000000001.jsonl");
  return { writer, file, rows: readFileSync(file, "utf8").split(/(?<=\n)/) };
}

/** The rows of the only writer with another reason in the third, and hashes that fit. */
async function forgedRows(place: Place) {
  const events = journalOf(place).rows.map((line) => JSON.parse(line.replace("ResourceBusy", "RecentlyRemediated")));
  return chain(journalOf(place).writer, events);
}

async function rewriteDatabase(place: Place, rows: ReturnType<typeof chain>) {
  await meddle(place, "DELETE FROM ledger_rows");
  await addRows(place, rows);
}

async function addRows({ directory, env }: Place, rows: ReturnType<typeof chain>) {
  const file = join(directory, "ledger", "ledger.sqlite");
  const store = env["LEDGER_URL"] ? postgresStore({ url: env["LEDGER_URL"] }) : sqliteStore(file, { waitMs: 1_000 });
  const database = ledgerDatabase(store);
  await database.add(rows);
  await database.close();
}

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
  // Closing ships the remaining rows to the database.
  await ledger.close();
}

function at(second: number): string {
  return `2026-11-15T10:00:0${second}.000Z`;
}

async function audit(place: Place, ...args: readonly string[]) {
  return typed("audit", place, ...args);
}

async function typed(word: "audit" | "ledger", { directory, env }: Place, ...args: readonly string[]) {
  const lines: string[] = [];
  const screen = { write: (text: string) => void lines.push(text.slice(0, -1)), isTerminal: true, hasColours: false };
  const context = {
    clock: systemClock(),
    random: systemRandom(),
    env,
    terminal: {
      ...printTo(screen, screen),
      user: "kim",
    },
  };
  const status = await interlock([word, ...args, "--data", directory], {
    withCommandContext: (_options, work) => work(context),
    withServerContext: () => Promise.reject(new Error("the ledger needs no API server")),
  });
  return { status, lines };
}

async function meddle({ directory, env }: Place, sql: string) {
  if (env["LEDGER_URL"]) return void (await query(env["LEDGER_URL"], sql));
  const store = sqliteStore(join(directory, "ledger", "ledger.sqlite"), { waitMs: 1_000 });
  await store.query(sql, []);
  await store.close();
}
