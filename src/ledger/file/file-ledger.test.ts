import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../../test/doubles/recording-logger.ts";
import { type Disk, type DiskFile, openDirectory } from "../../disk/index.ts";
import { promMetrics } from "../../telemetry/index.ts";
import { systemClock, systemRandom } from "../../time/index.ts";
import { ledgerContract } from "../ledger.contract.ts";
import type { Ledger, LedgerEvent } from "../ledger.ts";
import { observeLedger } from "../observe-ledger.ts";
import { type FileLedgerOptions, openFileLedger } from "./file-ledger.ts";
import { readLedger } from "./read-ledger.ts";
import type { LedgerRow } from "./row.ts";
import { verifyLedger } from "./verify-ledger.ts";
import { ledgerWriter } from "./writers.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "interlock-ledger-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

ledgerContract("file", async () => {
  const own = mkdtempSync(join(tmpdir(), "interlock-ledger-"));
  return {
    ledger: await open({ directory: own }),
    events: () => read(own),
    dispose: async () => rmSync(own, { recursive: true }),
  };
});

describe("a file ledger that is opened again", () => {
  it("continues its chain", async () => {
    await appendEvents(1, 2);
    await appendEvents(3, 3);

    const rows = await read();

    expect(rows.map(({ id, seq }) => [id, seq])).toEqual([
      ["event-1", 1],
      ["event-2", 2],
      ["event-3", 3],
    ]);
    expect(rows[2]?.previous).toBe(rows[1]?.hash);
    expect(await verifyLedger(directory)).toMatchObject({ writers: [{ rows: 3, head: { seq: 3 } }], problems: [] });
  });

  it("cuts off a line that a crash cut short, and logs it", async () => {
    await appendEvents(1, 2);
    truncateSync(segments()[0] as string, readFileSync(segments()[0] as string).length - 1);
    const log = recordingLogger();

    const ledger = await open({ log });
    await ledger.append(event(3));
    await ledger.close();

    expect((await read()).map(({ id }) => id)).toEqual(["event-1", "event-3"]);
    expect(log.events).toContainEqual({
      level: "warn",
      event: "incomplete write cut off",
      fields: { file: "0000000000000001.jsonl", offset: expect.any(Number), bytes: expect.any(Number) },
    });
  });

  it("rejects a second opener with the directory and its owner", async () => {
    const ledger = await open();

    await expect(open()).rejects.toMatchObject({
      code: "in-use",
      message: expect.stringMatching(`${join(directory, "w-1")} is in use by pid ${process.pid} since 20`),
    });

    await ledger.close();
    await (await open()).close();
  });

  it("does not open when a row in the middle was changed, names file and line, and changes nothing", async () => {
    await appendEvents(1, 3);
    const [file = ""] = segments();
    writeFileSync(file, readFileSync(file, "utf8").replace("event-2", "event-9"));
    const before = readFileSync(file);

    await expect(open()).rejects.toMatchObject({
      name: "LedgerError",
      code: "damaged",
      message: `${file} is damaged at line 2: row 2 was changed`,
    });

    expect(readFileSync(file)).toEqual(before);
  });

  it("does not open when the segment before the newest is gone", async () => {
    await appendEvents(1, 3, { limits: { segmentBytes: 1, waitingBytes: 1_000_000 } });
    rmSync(segments()[1] as string);

    await expect(open()).rejects.toMatchObject({
      code: "damaged",
      message: expect.stringContaining("row 2 is missing"),
    });
  });

  it("is free again after damage was found in it", async () => {
    await appendEvents(1, 1);
    appendFileSync(segments()[0] as string, "something else\n");
    await expect(open()).rejects.toMatchObject({ code: "damaged" });

    await expect(open()).rejects.toMatchObject({ code: "damaged" });
  });
});

describe("segments", () => {
  it("are begun when the last is full, and named after their first row", async () => {
    await appendEvents(1, 5, { limits: { segmentBytes: 500, waitingBytes: 1_000_000 } });

    expect(segments().map((file) => file.slice(-22))).toEqual([
      "0000000000000001.jsonl",
      "0000000000000003.jsonl",
      "0000000000000005.jsonl",
    ]);
    expect((await read()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect((await verifyLedger(directory)).problems).toEqual([]);
  });

  it("can be read while they are written", async () => {
    const ledger = await open();
    await ledger.append(event(1));
    appendFileSync(segments()[0] as string, '{"writer":"w-1","seq":2,"syn');

    const { writers, problems } = await verifyLedger(directory);

    expect((await read()).map(({ id }) => id)).toEqual(["event-1"]);
    expect(writers).toMatchObject([{ rows: 1, incomplete: { line: 2 } }]);
    expect(problems).toEqual([]);
    await ledger.close();
  });

  it("are verified line by line with standard tools, as documented", async () => {
    await appendEvents(1, 2);
    const page = readFileSync(new URL("../../../docs/ledger.md", import.meta.url), "utf8");
    const script = /```sh\n# verify\n(.*?)```/s.exec(page)?.[1] ?? "";

    const run = (file: string) => execFileSync("bash", ["-c", script], { env: { ...process.env, file } }).toString();

    const [file = ""] = segments();
    expect(run(file)).toBe("");
    writeFileSync(file, readFileSync(file, "utf8").replace("event-2", "event-9"));
    expect(run(file)).toContain("changed");
  });
});

describe("a writer's name", () => {
  it("is made once and kept, also when several processes start together", async () => {
    const file = join(directory, "data", "ledger-writer");

    const names = await Promise.all([1, 2, 3, 4].map(() => ledgerWriter(file, systemRandom())));

    expect(new Set([...names, await ledgerWriter(file, systemRandom())]).size).toBe(1);
    expect(readdirSync(join(directory, "data"))).toEqual(["ledger-writer"]);
  });

  it("is refused if the file holds something else", async () => {
    writeFileSync(join(directory, "name"), "../elsewhere\n");

    await expect(ledgerWriter(join(directory, "name"), systemRandom())).rejects.toMatchObject({ code: "damaged" });
  });
});

describe("several writers", () => {
  it("are read in the order of their events, and of repeated events the first is taken", async () => {
    await appendEvents(1, 1, { writer: "w-1" });
    await appendEvents(3, 3, { writer: "w-1" });
    await appendEvents(1, 2, { writer: "w-2" });

    expect((await read()).map(({ id, writer }) => [id, writer])).toEqual([
      ["event-1", "w-1"],
      ["event-2", "w-2"],
      ["event-3", "w-1"],
    ]);
  });

  it("record one another's heads every minute, when there is something new", async () => {
    const clock = new ManualClock();
    const one = await open({ writer: "w-1", clock });
    const two = await open({ writer: "w-2", clock });
    await one.append(event(1));
    await one.append(event(2));

    await minutes(clock, 1, 2);
    await minutes(clock, 3, 2);

    const recorded = (await read()).filter(({ type }) => type === "ledger.heads");
    const { hash } = (await read()).find(({ id }) => id === "event-2") as LedgerRow;
    expect(recorded.map(({ writer, facts }) => ({ writer, facts }))).toContainEqual({
      writer: "w-2",
      facts: { heads: { "w-1": { seq: 2, hash } } },
    });
    // w-1 has at most the one head of w-2, which has no rows of its own yet.
    expect(recorded.length).toBeLessThanOrEqual(2);
    await Promise.all([one.close(), two.close()]);
    expect((await verifyLedger(directory)).problems).toEqual([]);
  });

  it("detect a chain whose end was removed, and one that was rewritten", async () => {
    const clock = new ManualClock();
    await appendEvents(1, 4, { writer: "w-1" });
    const two = await open({ writer: "w-2", clock });
    await minutes(clock, 1, 1);
    await two.close();
    const [file = ""] = segments("w-1");
    const lines = readFileSync(file, "utf8").split("\n");

    writeFileSync(file, `${lines.slice(0, 2).join("\n")}\n`);
    const cut = await verifyLedger(directory);
    await appendEvents(7, 9, { writer: "w-1" });
    const grown = await verifyLedger(directory);
    rmSync(join(directory, "w-1"), { recursive: true });
    const gone = await verifyLedger(directory);

    const place = `recorded in ${segments("w-2")[0]} line 1`;
    expect(cut.problems).toMatchObject([{ kind: "missing", message: `row 4 is missing; it is ${place}` }]);
    expect(grown.problems).toMatchObject([{ kind: "changed", file, line: 4 }]);
    expect(gone.problems).toMatchObject([{ kind: "missing", message: `row 4 is missing; it is ${place}` }]);
  });
});

describe("verification", () => {
  it.each([
    ["a row taken out", (lines: string[]) => lines.toSpliced(2, 1), "missing", 3, "row 3 is missing"],
    ["rows taken out", (lines: string[]) => lines.toSpliced(1, 2), "missing", 2, "rows 2 to 3 are missing"],
    ["a row put in twice", (lines: string[]) => lines.toSpliced(2, 0, lines[1] ?? ""), "unchained", 3, "row 2 is at"],
    ["the first row taken out", (lines: string[]) => lines.slice(1), "missing", 1, "row 1 is missing"],
    ["a foreign row", (lines: string[]) => lines.toSpliced(1, 1, "{}"), "changed", 2, "row 2 was changed"],
  ])("names %s", async (_, damage, kind, line, message) => {
    await appendEvents(1, 5);
    const [file = ""] = segments();
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");

    writeFileSync(file, `${damage(lines).join("\n")}\n`);

    const { problems } = await verifyLedger(directory);
    expect(problems[0]).toMatchObject({ kind, file, line, message: expect.stringContaining(message) });
    await expect(read()).rejects.toMatchObject({ code: "damaged" });
  });

  it("names a segment that is missing", async () => {
    await appendEvents(1, 4, { limits: { segmentBytes: 1, waitingBytes: 1_000_000 } });
    rmSync(segments()[1] as string);

    const { problems } = await verifyLedger(directory);

    expect(problems).toMatchObject([{ kind: "missing", file: segments()[1], message: "row 2 is missing" }]);
  });

  it("finds a row that was changed and hashed again", async () => {
    await appendEvents(1, 2, { writer: "w-1" });
    const [file = ""] = segments("w-1");
    const [, second] = readFileSync(file, "utf8").split("\n");
    rmSync(join(directory, "w-1"), { recursive: true });
    await appendEvents(5, 5, { writer: "w-1" });

    appendFileSync(file, `${second}\n`);

    const { problems } = await verifyLedger(directory);
    expect(problems).toMatchObject([{ kind: "unchained", file, line: 2 }]);
  });
});

describe("a disk that fails", () => {
  it("rejects all waiting events, and new ones for a moment", async () => {
    const broken = { is: false };
    const ledger = await open({ openDisk: breakable(broken), clock: new ManualClock() });
    await ledger.append(event(1));
    broken.is = true;

    const waiting = await Promise.allSettled([2, 3, 4].map((i) => ledger.append(event(i))));
    broken.is = false;
    const later = await ledger.append(event(5)).catch((error) => error);

    for (const outcome of waiting) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { name: "LedgerError", code: "failed" } });
    }
    expect(later.message).toMatch(/ENOSPC.*; free space on its volume: it rejects events until/);
    // A full disk fails every reconciliation: a stack for each would hide the message.
    expect(later.stack).toBe("");
    await ledger.close();
    await appendEvents(6, 6);
    expect((await read()).map(({ id }) => id)).toEqual(["event-1", "event-6"]);
  });

  it("rejects events for a second at a time, and records them again once there is room", async () => {
    const broken = { is: false };
    const clock = new ManualClock();
    const log = recordingLogger();
    const ledger = await open({ openDisk: breakable(broken), clock, log });
    await ledger.append(event(1));
    broken.is = true;
    const outcomes: string[] = [];
    async function appendAfter(ms: number, i: number) {
      await clock.advance(ms);
      await ledger.append(event(i)).then(
        () => outcomes.push("recorded"),
        (error: { code: string }) => outcomes.push(error.code),
      );
    }

    await appendAfter(0, 2);
    await appendAfter(1_000, 3);
    broken.is = false;
    await appendAfter(999, 4);
    await appendAfter(1, 5);

    expect(outcomes).toEqual(["failed", "failed", "failed", "recorded"]);
    expect((await read()).map(({ id }) => id)).toEqual(["event-1", "event-5"]);
    expect((await verifyLedger(directory)).problems).toEqual([]);
    const logged = log.events.map(({ event }) => event).filter((event) => event.startsWith("ledger append"));
    expect(logged).toEqual(["ledger append failed", "ledger append recovered"]);
    await ledger.close();
    await appendEvents(6, 6);
    expect((await read()).map(({ id }) => id)).toEqual(["event-1", "event-5", "event-6"]);
  });

  it("keeps the whole rows of a failed write, because another writer may have read them already", async () => {
    let writes = 0;
    const openDisk = wrapping((file) => ({
      ...file,
      async write(bytes, position) {
        await file.write(bytes, position);
        writes++;
        if (writes === 2) throw new Error("EIO: i/o error");
      },
    }));
    const clock = new ManualClock();
    const ledger = await open({ openDisk, clock });
    await ledger.append(event(1));

    const outcomes = await Promise.allSettled([2, 3].map((i) => ledger.append(event(i))));
    await clock.advance(1_000);
    await ledger.append(event(4));

    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect((await read()).map(({ id }) => id)).toEqual(["event-1", "event-2", "event-3", "event-4"]);
    expect(await verifyLedger(directory)).toMatchObject({ problems: [], writers: [{ rows: 4 }] });
    await ledger.close();
  });

  it("bounds its memory: events that arrive too fast are rejected", async () => {
    const ledger = await open({ limits: { segmentBytes: 1_000_000, waitingBytes: 1_000 } });

    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, (_, i) => ledger.append(event(i))));

    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThan(50);
    expect(refused[0]).toMatchObject({ reason: { code: "overloaded" } });
    await ledger.append(event(200));
    expect(await read()).toHaveLength(outcomes.length - refused.length + 1);
    await ledger.close();
  });

  it("is written once for many events", async () => {
    let writes = 0;
    const openDisk = wrapping((file) => ({
      ...file,
      write(bytes, position) {
        writes++;
        return file.write(bytes, position);
      },
    }));
    const ledger = await open({ openDisk });

    await Promise.all(Array.from({ length: 64 }, (_, i) => ledger.append(event(i))));

    expect(writes).toBe(1);
    await ledger.close();
  });
});

describe("metrics", () => {
  it("count events by type, their duration, and rejected ones", async () => {
    const metrics = promMetrics();
    const ledger = await open({ observer: observeLedger(metrics) });
    await ledger.append(event(1));
    await ledger.close();
    await ledger.append(event(2)).catch(() => {});

    const text = await metrics.text();

    expect(text).toContain('ledger_events_total{type="execution.started"} 1');
    expect(text).toContain('ledger_events_total{type="target.freed"} 0');
    expect(text).toContain('ledger_append_failures_total{reason="closed"} 1');
    expect(text).toContain("ledger_append_duration_seconds_count 1");
    expect(text).toMatch(new RegExp(`ledger_written_bytes_total ${readFileSync(segments()[0] as string).length}\n`));
  });
});

function open(options: Partial<FileLedgerOptions> = {}): Promise<Ledger> {
  return openFileLedger({ directory, writer: "w-1", clock: systemClock(), ...options });
}

/** Opens a ledger, appends events one after the other, and closes it. */
async function appendEvents(from: number, to: number, options: Partial<FileLedgerOptions> = {}) {
  const ledger = await open(options);
  for (let i = from; i <= to; i++) await ledger.append(event(i));
  await ledger.close();
}

function event(i: number): LedgerEvent {
  return {
    id: `event-${i}`,
    type: "execution.started",
    at: `2026-11-15T10:00:${String(i % 60).padStart(2, "0")}Z`,
    facts: { i },
  };
}

async function read(from = directory): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  for await (const row of readLedger(from)) rows.push(row);
  return rows;
}

function segments(writer = "w-1"): string[] {
  const own = join(directory, writer);
  const names = readdirSync(own).filter((name) => name.endsWith(".jsonl"));
  return names.sort().map((name) => join(own, name));
}

/** Lets minutes pass for `ledgers` that share a clock; each sets its next alarm when it has recorded. */
async function minutes(clock: ManualClock, count: number, ledgers: number) {
  for (let i = 0; i < count; i++) {
    await clock.advance(60_000);
    while (clock.pendingTimers < ledgers) await settle();
  }
}

function breakable(broken: { is: boolean }) {
  return wrapping((file) => ({
    ...file,
    async write(bytes, position) {
      if (!broken.is) return file.write(bytes, position);
      await file.write(bytes.subarray(0, 10), position);
      throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    },
  }));
}

/** Opens a real disk whose files are wrapped. */
function wrapping(wrap: (file: DiskFile) => DiskFile): NonNullable<FileLedgerOptions["openDisk"]> {
  return async (path, clock): Promise<Disk> => {
    const disk = await openDirectory(path, clock);
    return { ...disk, open: async (name, mode) => wrap(await disk.open(name, mode)) };
  };
}
