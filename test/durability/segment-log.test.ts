import { describe, expect, it } from "vitest";
import type { Disk, DiskFile, OpenMode } from "../../src/disk/index.ts";
import { Dice } from "../chaos/dice.ts";
import { settle } from "../doubles/manual-clock.ts";
import { dieAtEveryStep, liveOn } from "./lives.ts";
import { type Fate, LossyDisk } from "./lossy-disk.ts";
import { encode, NumberedLog, names } from "./numbered-log.ts";

describe("a segment log", () => {
  it("has every record that was appended, in order, over segments and processes", async () => {
    const disk = new LossyDisk(new Dice(1));
    for (let life = 0; life < 3; life++) {
      const log = await NumberedLog.open(disk.open().disk);
      for (let i = 1; i <= 20; i++) await log.append(20 * life + i);
      await log.close();
      disk.cutPower();
    }

    const log = await NumberedLog.open(disk.open().disk);

    expect(log.found).toEqual(upTo(60));
    expect(log.segments.numbers.length).toBeGreaterThan(3);
    expect(log.segments.bytes).toBe(disk.names.reduce((sum, name) => sum + disk.bytesOf(name).length, 0));
  });

  it("cuts off an incomplete write, reports it, and continues after the record before it", async () => {
    const disk = await diskWith(3);
    const [name = ""] = disk.names;
    const whole = disk.bytesOf(name).length;
    await cut(disk, name, whole - 1);
    const cuts: unknown[] = [];

    const log = await NumberedLog.open(disk.open().disk, { cutOff: (cut) => cuts.push(cut) });
    await log.append(4);
    await log.close();

    const offset = whole - encode([3]).length;
    expect(cuts).toEqual([{ file: name, offset, bytes: whole - 1 - offset }]);
    expect((await NumberedLog.open(disk.open().disk)).found).toEqual([1, 2, 4]);
  });

  it("refuses to open where a record before the last was changed, and modifies nothing", async () => {
    const disk = await diskWith(3);
    const [name = ""] = disk.names;
    disk.bytesOf(name).writeUInt8(0x20, encode([1]).length + 3);
    const before = Buffer.from(disk.bytesOf(name));

    const opened = NumberedLog.open(disk.open().disk);

    await expect(opened).rejects.toMatchObject({ code: "damaged", message: expect.stringContaining(name) });
    expect(disk.bytesOf(name)).toEqual(before);
  });

  it("refuses to open where a segment ends early although another follows", async () => {
    const disk = await diskWith(8);
    const [first = "", second = ""] = disk.names;
    const end = disk.bytesOf(first).length - 1;
    await cut(disk, first, end);

    const opened = NumberedLog.open(disk.open().disk);

    const message = new RegExp(
      `^/lossy/${first} is damaged at byte \\d+: the record there is incomplete, but ${second}`,
    );
    await expect(opened).rejects.toMatchObject({ code: "damaged", message: expect.stringMatching(message) });
    expect(disk.bytesOf(first)).toHaveLength(end);
  });

  it("continues the segment before one that was created and never written to", async () => {
    const disk = await diskWith(3);
    await disk.open().disk.open(names.name(4), "create-durable");
    disk.kill();

    const log = await NumberedLog.open(disk.open().disk);
    await log.append(5);
    await log.close();

    expect((await NumberedLog.open(disk.open().disk)).found).toEqual([1, 2, 3, 5]);
  });

  it("continues in the current segment when the next one cannot be created", async () => {
    const disk = new LossyDisk(new Dice(1));
    let isFull = false;
    const log = await NumberedLog.open(disk.open({ fails: () => isFull }).disk);
    await log.append(1);
    isFull = true;

    await expect(log.segments.rotate(2)).rejects.toThrow("EIO");
    isFull = false;
    await log.append(2);
    await log.close();

    expect((await NumberedLog.open(disk.open().disk)).found).toEqual([1, 2]);
  });

  it("removes old segments, oldest first, but never the one that it appends to", async () => {
    const disk = await diskWith(30);
    const log = await NumberedLog.open(disk.open().disk);
    const [, , third = 0] = log.segments.numbers;

    await log.segments.dropBefore(third);
    expect(log.segments.numbers[0]).toBe(third);
    await log.segments.dropBefore(1_000);
    await log.append(31);
    await log.close();

    expect(disk.names).toHaveLength(1);
    expect(log.segments.bytes).toBe(disk.bytesOf(disk.names[0] ?? "").length);
    expect((await NumberedLog.open(disk.open().disk)).found.at(-1)).toBe(31);
  });

  it("grows by its reserved space, and reads none of the zeros as a record", async () => {
    const disk = new LossyDisk(new Dice(1));
    const log = await NumberedLog.open(disk.open().disk, { reserveBytes: 1_000, segmentBytes: 5_000 });
    for (const number of upTo(5)) await log.append(number);
    await log.close();

    expect(disk.bytesOf(disk.names[0] ?? "")).toHaveLength(1_000);
    const again = await NumberedLog.open(disk.open().disk, { reserveBytes: 1_000 });
    await again.append(6);
    await again.close();
    expect((await NumberedLog.open(disk.open().disk)).found).toEqual(upTo(6));
  });

  it("never reads a part of a failed append as a record, and appends again when the disk has space", async () => {
    const disk = new LossyDisk(new Dice(1));
    let isFull = false;
    const log = await NumberedLog.open(disk.open({ fails: () => isFull }).disk);
    await log.append(1);
    isFull = true;
    await expect(log.append(2)).rejects.toThrow("EIO");
    await expect(log.append(3)).rejects.toThrow("EIO");

    isFull = false;
    await log.append(4);
    disk.cutPower();

    expect((await NumberedLog.open(disk.open().disk)).found).toEqual([1, 4]);
  });
});

describe("a segment log on a disk that loses unsynced writes", () => {
  it("loses no durable record when the process dies at any step, also during recovery", async () => {
    const deaths = await campaign(8);

    expect(deaths).toBeGreaterThan(100);
  }, 120_000);

  it("loses no durable record when operations fail", async () => {
    expect(await failures(3)).toBeGreaterThan(50);
  }, 120_000);

  it.each<readonly [string, (disk: Disk) => Disk]>([
    ["acknowledged records before the disk had them", withFiles((file) => file, undurable)],
    ["did not make the names of segments durable", (disk) => ({ ...disk, sync: async () => {} })],
    ["did not cut back after a failed append", withFiles((file) => ({ ...file, truncate: async () => {} }))],
    ["took bytes that only the operating system has for durable", withFiles(withoutRewrite)],
  ])(
    "is noticed if it %s",
    async (_, mutate) => {
      const run = async () => {
        await campaign(4, mutate);
        await failures(12, mutate);
      };

      await expect(run()).rejects.toThrow();
    },
    120_000,
  );
});

/** Processes that die at each step in turn. Resolves to the number of those that died. */
function campaign(seeds: number, mutate?: (disk: Disk) => Disk): Promise<number> {
  return dieAtEveryStep(seeds, (label, disk, dice) => {
    const model = new LogModel(label);
    return (fate) => live(disk, model, dice, fate, mutate);
  });
}

/** Processes whose operations fail for a while, and that may die meanwhile. Resolves to the number of rejected appends. */
async function failures(seeds: number, mutate?: (disk: Disk) => Disk): Promise<number> {
  let rejected = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    for (let failsAt = 6; failsAt < 40; failsAt++) {
      const dice = new Dice(seed * 200_003 + failsAt);
      const disk = new LossyDisk(dice);
      const failing = dice.chance(0.3) ? 1 : dice.whole(2, 6);
      const model = new LogModel(`seed ${seed}, fails at ${failsAt}`, { failsOnce: failing === 1 });
      const mayDie = dice.chance(0.5) ? { diesAt: failsAt + dice.whole(1, 12) } : {};

      await live(
        disk,
        model,
        dice,
        { fails: (step) => step >= failsAt && step < failsAt + failing, ...mayDie },
        mutate,
      );
      for (let life = 0; life < 3; life++) await live(disk, model, dice, {}, mutate);
      rejected += model.rejected;
    }
  }
  return rejected;
}

/** Opens the log, checks it, appends, and closes it or dies. True if it did not die. */
function live(
  disk: LossyDisk,
  model: LogModel,
  dice: Dice,
  fate: Fate,
  mutate: (disk: Disk) => Disk = (same) => same,
): Promise<boolean> {
  return liveOn(disk, dice, fate, async (life) => {
    const log = await NumberedLog.open(mutate(life.disk), { reserveBytes: dice.chance(0.5) ? 200 : 1 });
    model.check(log.found);
    await Promise.all([1, 2, 3].map(() => appendSome(log, model, dice)));
    const { numbers } = log.segments;
    if (numbers.length > 3) await model.drop(log, numbers.at(-2) as number);
    await log.close();
  });
}

async function appendSome(log: NumberedLog, model: LogModel, dice: Dice) {
  for (let i = 0; i < 5; i++) {
    // Some append while a write is under way, some together.
    for (let turns = dice.whole(0, 3); turns > 0; turns--) await settle();
    await model.append(log);
  }
}

/** The records of a log over all processes that had it, and therefore the ones that it must have, or must not have. */
class LogModel {
  rejected = 0;
  readonly #story: string;
  readonly #failsOnce: boolean;
  #next = 1;
  /** Acknowledged, or found when the log was opened: they must stay, unless they are dropped. */
  readonly #kept = new Set<number>();
  /** Rejected, with nothing acknowledged since: they may be there if the process died. */
  #doubtful = new Set<number>();
  readonly #gone = new Set<number>();
  #droppedBefore = 0;

  constructor(story: string, { failsOnce = false } = {}) {
    this.#story = story;
    this.#failsOnce = failsOnce;
  }

  async append(log: NumberedLog): Promise<void> {
    const number = this.#next++;
    try {
      await log.append(number);
    } catch {
      this.rejected++;
      // A log whose disk works again has removed the record before it rejects it.
      (this.#failsOnce ? this.#gone : this.#doubtful).add(number);
      return;
    }
    this.#kept.add(number);
    this.#settleDoubts();
  }

  /** Records before `number` may be gone from now on. A disk that fails keeps them, which is no error. */
  async drop(log: NumberedLog, number: number): Promise<void> {
    this.#droppedBefore = number;
    await log.segments.dropBefore(number).catch(() => {});
  }

  check(found: readonly number[]): void {
    const story = this.#story;
    const has = new Set(found);
    expect(found, `${story}: in order, none twice`).toEqual([...has].sort((one, other) => one - other));
    // Segments go oldest first: where one is still there, so are all behind it.
    const first = Math.min(this.#droppedBefore, found[0] ?? this.#droppedBefore);
    const needed = [...this.#kept].filter((number) => number >= first);
    expect(
      needed.filter((number) => !has.has(number)),
      `${story}: none lost`,
    ).toEqual([]);
    expect(
      found.filter((number) => this.#gone.has(number) || number >= this.#next),
      `${story}: none made up`,
    ).toEqual([]);
    for (const number of found) this.#kept.add(number);
    for (const number of found) this.#doubtful.delete(number);
    this.#settleDoubts();
  }

  #settleDoubts() {
    for (const number of this.#doubtful) this.#gone.add(number);
    this.#doubtful = new Set();
  }
}

async function diskWith(records: number): Promise<LossyDisk> {
  const disk = new LossyDisk(new Dice(1));
  const log = await NumberedLog.open(disk.open().disk);
  for (const number of upTo(records)) await log.append(number);
  await log.close();
  disk.kill();
  return disk;
}

async function cut(disk: LossyDisk, name: string, size: number) {
  const file = await disk.open().disk.open(name, "durable");
  await file.truncate(size);
  await file.sync();
  disk.kill();
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

/** A disk whose files behave otherwise. */
function withFiles(change: (file: DiskFile) => DiskFile, changeMode: (mode: OpenMode) => OpenMode = (mode) => mode) {
  return (disk: Disk): Disk => ({
    ...disk,
    open: async (name: string, mode: OpenMode) => change(await disk.open(name, changeMode(mode))),
  });
}

/** The lossy disk lets a file be written that was opened to be read. */
function undurable(mode: OpenMode): OpenMode {
  return mode === "create" || mode === "create-durable" ? "create" : "read";
}

/** Writes nothing where the file shows the same bytes already. */
function withoutRewrite(file: DiskFile): DiskFile {
  return {
    ...file,
    async write(bytes, position) {
      const shown = Buffer.alloc(bytes.length);
      await file.read(shown, position);
      if (!shown.equals(bytes)) await file.write(bytes, position);
    },
  };
}
