import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { LedgerError, openFileLedger, readLedger, verifyLedger } from "../../src/ledger/index.ts";
import { systemClock } from "../../src/time/index.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";

// Each opening starts a process that takes the lock: slow where many others run.
vi.setConfig({ testTimeout: 120_000 });

/** Rows are written in these portions, each in one write. */
const portions = [5, 5, 5, 5, 1, 2, 1, 4];
const total = portions.reduce((sum, portion) => sum + portion, 0);
const lastPortion = portions.at(-1) as number;

let directory: string;
let files: Map<string, Buffer>;
let newest: string;
/** Where the last portion begins in the newest segment. */
let lastWrite: number;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "interlock-damage-"));
  const limits = { segmentBytes: 1_500, waitingBytes: 1_000_000 };
  const ledger = await openFileLedger({ directory, writer: "w", clock: systemClock(), limits });
  let appended = 0;
  for (const portion of portions) {
    await Promise.all(Array.from({ length: portion }, () => ledger.append(event(++appended))));
  }
  await ledger.close();
  const own = join(directory, "w");
  const names = readdirSync(own).filter((name) => name.endsWith(".jsonl"));
  files = new Map(names.sort().map((name) => [join(own, name), readFileSync(join(own, name))]));
  newest = [...files.keys()].at(-1) as string;
  lastWrite = (files.get(newest) as Buffer).indexOf(`{"writer":"w","seq":${total - lastPortion + 1},`);
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

describe("a flipped bit", () => {
  it("anywhere is detected by verification", async () => {
    expect(files.size).toBeGreaterThan(2);
    expect(lastWrite).toBeGreaterThan(0);

    await fc.assert(
      fc.asyncProperty(flip(), async ({ file, at, bit }) => {
        restore();
        writeFileSync(file, flipped(file, at, bit));

        const { problems, writers } = await verifyLedger(directory);

        const noticed = [...problems, ...writers.flatMap(({ incomplete }) => incomplete ?? [])];
        expect(noticed[0]).toMatchObject({ file, line: expect.any(Number) });
      }),
      { numRuns: 150 },
    );
  });

  it("in the newest segment keeps the ledger from opening, or is cut off as the last write with a warning", async () => {
    await fc.assert(
      fc.asyncProperty(flip(), async ({ at: anywhere, bit }) => {
        const bytes = files.get(newest) as Buffer;
        const at = anywhere % bytes.length;
        restore();
        writeFileSync(newest, flipped(newest, at, bit));

        const outcome = await opened();

        if (outcome instanceof Error) {
          expect(outcome).toMatchObject({ name: "LedgerError", code: "damaged" });
          expect(outcome.message).toContain(newest);
          return;
        }
        // Only zeros look like something that never reached the disk.
        expect((bytes[at] as number) ^ (1 << bit)).toBe(0);
        expect(at).toBeGreaterThanOrEqual(lastWrite);
        expect(outcome.warnings).toEqual(["incomplete write cut off"]);
        expect(outcome.ids.length).toBeGreaterThanOrEqual(total - lastPortion);
      }),
      { numRuns: 150 },
    );
  });
});

describe("a last write that was cut short", () => {
  it("at any byte leaves the rows before the cut, from which the chain continues", async () => {
    const bytes = files.get(newest) as Buffer;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: lastWrite, max: bytes.length - 1 }), async (end) => {
        restore();
        writeFileSync(newest, bytes.subarray(0, end));

        const outcome = await opened();

        const whole = bytes.subarray(lastWrite, end).toString("latin1").split("\n").length - 1;
        expect(outcome).toMatchObject({ ids: idsUpTo(total - lastPortion + whole) });
        await goesOn();
      }),
      { numRuns: 40 },
    );
  });

  it("with parts that never arrived leaves the rows before them", async () => {
    const bytes = files.get(newest) as Buffer;
    const hole = fc.record({
      at: fc.integer({ min: lastWrite, max: bytes.length - 1 }),
      length: fc.integer({ min: 1, max: 600 }),
    });
    await fc.assert(
      fc.asyncProperty(hole, async ({ at, length }) => {
        restore();
        writeFileSync(newest, Buffer.from(bytes).fill(0, at, Math.min(at + length, bytes.length)));

        const outcome = await opened();

        const whole = bytes.subarray(lastWrite, at).toString("latin1").split("\n").length - 1;
        expect(outcome).toMatchObject({ ids: idsUpTo(total - lastPortion + whole) });
        await goesOn();
      }),
      { numRuns: 40 },
    );
  });

  it("is distinguished from a hole in an earlier write", async () => {
    const bytes = files.get(newest) as Buffer;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: lastWrite - 1 }),
        fc.integer({ min: 1, max: 600 }),
        async (at, length) => {
          restore();
          writeFileSync(newest, Buffer.from(bytes).fill(0, at, Math.min(at + length, lastWrite)));

          expect(await opened()).toMatchObject({ name: "LedgerError", code: "damaged" });
        },
      ),
      { numRuns: 50 },
    );
  });
});

function flip() {
  const every = [...files].map(([file, bytes]) =>
    fc.record({
      file: fc.constant(file),
      at: fc.integer({ min: 0, max: bytes.length - 1 }),
      bit: fc.integer({ min: 0, max: 7 }),
    }),
  );
  return fc.oneof(...every);
}

function flipped(file: string, at: number, bit: number): Buffer {
  const bytes = Buffer.from(files.get(file) as Buffer);
  bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
  return bytes;
}

function restore() {
  for (const [file, bytes] of files) writeFileSync(file, bytes);
}

/** Opens the ledger and closes it again; what was in it then, or why it could not be opened. */
async function opened(): Promise<{ ids: string[]; warnings: string[] } | LedgerError> {
  const log = recordingLogger();
  try {
    const ledger = await openFileLedger({ directory, writer: "w", clock: systemClock(), log });
    await ledger.close();
  } catch (error) {
    if (error instanceof LedgerError) return error;
    throw error;
  }
  const warnings = log.events.filter(({ level }) => level === "warn").map(({ event }) => event);
  return { ids: await ids(), warnings };
}

async function goesOn() {
  const before = await ids();
  const ledger = await openFileLedger({ directory, writer: "w", clock: systemClock() });
  await ledger.append(event(100));
  await ledger.close();
  expect(await ids()).toEqual([...before, "event-100"]);
  expect(await verifyLedger(directory)).toMatchObject({ problems: [], writers: [{ incomplete: undefined }] });
}

async function ids(): Promise<string[]> {
  const found: string[] = [];
  for await (const { id } of readLedger(directory)) found.push(id);
  return found;
}

function idsUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `event-${i + 1}`);
}

function event(i: number) {
  const facts = { text: "@ ä".repeat(i % 5), i };
  return { id: `event-${i}`, type: "target.freed", at: "2026-11-15T10:00:00.000Z", facts } as const;
}
