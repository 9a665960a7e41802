import { describe, expect, it } from "vitest";
import { openLogStore } from "../../src/apiserver/log/open-log-store.ts";
import type { ObjectStore } from "../../src/apiserver/object-store.ts";
import { DiskError } from "../../src/disk/index.ts";
import { Dice } from "../chaos/dice.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { LossyDisk } from "./lossy-disk.ts";
import { StoreModel } from "./store-model.ts";

describe("damage to any byte on disk", () => {
  it("prevents the store from opening, and the message has the position", async () => {
    const { disk } = await diskWithStore();
    const tail = lastFrameOf(disk, newest(disk, ".log"));
    expect(disk.names).toContain(newest(disk, ".snapshot"));

    for (const { name, at } of everyByte(disk)) {
      if (name === tail.name && at >= tail.at) continue;
      const error = await withDamage(disk, name, at, () => open(disk).catch((error) => error));

      expect(error, `${name} at ${at}`).toBeInstanceOf(DiskError);
      expect(error.message).toContain(`/lossy/${name}`);
    }
  });

  it("that looks like an incomplete write loses at most that write", async () => {
    const { disk, model } = await diskWithStore();
    const tail = lastFrameOf(disk, newest(disk, ".log"));
    const before = await objectsIn(disk);

    for (const { name, at } of everyByte(disk)) {
      if (name !== tail.name || at < tail.at) continue;
      // Cutting off what is damaged changes the file: each byte gets a disk of its own.
      const { disk: copy } = await diskWithStore();
      const objects = await withDamage(copy, name, at, () => objectsIn(copy));

      expect(before.length - objects.length, `${name} at ${at}`).toBeLessThanOrEqual(1);
    }
    model.check(await open(disk));
  });
});

/** A snapshot, a log that continues it, and in its last frame the creation of one more object. Always the same. */
async function diskWithStore(): Promise<{ disk: LossyDisk; model: StoreModel }> {
  const dice = new Dice(7);
  const disk = new LossyDisk(dice);
  const model = new StoreModel("the store before the damage");
  const store = await open(disk);
  for (let i = 0; i < 30; i++) await model.write(store, dice);
  await model.create(store, "the-last");
  await store.close();
  return { disk, model };
}

function open(disk: LossyDisk): Promise<ObjectStore> {
  return openLogStore({
    directory: "/lossy",
    parse: JSON.parse,
    clock: new ManualClock(),
    openDisk: async () => disk.open().disk,
    space: { compactedFromBytes: 1_500, compactedFromRatio: 1, reservedBytes: 256 },
  });
}

async function objectsIn(disk: LossyDisk): Promise<string[]> {
  const store = await open(disk);
  const objects = [...store.list("things")].map(({ json }) => json);
  await store.close();
  return objects;
}

async function withDamage<T>(disk: LossyDisk, name: string, at: number, work: () => Promise<T>): Promise<T> {
  const bytes = disk.bytesOf(name);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
  try {
    return await work();
  } finally {
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
  }
}

function everyByte(disk: LossyDisk): { name: string; at: number }[] {
  return disk.names.flatMap((name) => Array.from(disk.bytesOf(name), (_, at) => ({ name, at })));
}

function newest(disk: LossyDisk, ending: string): string {
  return disk.names.findLast((name) => name.endsWith(ending)) ?? "";
}

function lastFrameOf(disk: LossyDisk, name: string): { name: string; at: number } {
  return { name, at: disk.bytesOf(name).lastIndexOf(Buffer.from([0xfe, 0x49, 0x4c, 0xff])) };
}
