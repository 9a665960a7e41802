import type { Disk, DiskFile } from "../../src/disk/index.ts";
import { Dice } from "../chaos/dice.ts";
import { LossyDisk } from "../durability/lossy-disk.ts";
import type { Process, World } from "./world.ts";

/** The disk of one place, which outlives its process. Unsynced writes may be lost with the process. */
export class SimDisk {
  readonly #world: World;
  readonly #disk: LossyDisk;
  readonly #failing: number;
  readonly #slowestMs: number;
  #healed = false;

  constructor(world: World) {
    const { chance } = world;
    this.#world = world;
    this.#disk = new LossyDisk(new Dice(chance.whole(0, 2 ** 32 - 1)));
    this.#slowestMs = chance.happens(0.4) ? chance.between(10, 1_000) : 10;
    this.#failing = chance.happens(0.3) ? chance.between(0, 0.05) : 0;
  }

  heal(): void {
    this.#healed = true;
  }

  /** The process that used it is dead; sometimes it was the power. */
  abandon(): void {
    if (this.#world.chance.happens(0.5)) return this.#disk.kill();
    this.#world.struck("power cut");
    this.#disk.cutPower();
  }

  /** The disk for `process`: every operation takes time, and a few fail, which calls `failed`. */
  open(process: Process, failed: () => void): Disk {
    const fails = () => {
      const isFailing = this.#fails();
      if (isFailing) failed();
      return isFailing;
    };
    const { disk } = this.#disk.open({ fails });
    const slow = <T>(operation: () => Promise<T>) => this.#slow(process, operation);
    return {
      ...{ directory: disk.directory, close: () => disk.close() },
      names: () => slow(() => disk.names()),
      open: async (name, mode) => slowFile(await slow(() => disk.open(name, mode as "read")), slow),
      rename: (from, to) => slow(() => disk.rename(from, to)),
      remove: (name) => slow(() => disk.remove(name)),
      sync: () => slow(() => disk.sync()),
    };
  }

  #fails(): boolean {
    if (this.#healed || !this.#world.chance.happens(this.#failing)) return false;
    this.#world.struck("disk error");
    return true;
  }

  #slow<T>(process: Process, operation: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#world.in(this.#world.chance.between(0.1, this.#slowestMs), () => {
        operation().then(
          (result) => process.handle(() => resolve(result)),
          (error) => process.handle(() => reject(error)),
        );
      });
    });
  }
}

function slowFile(file: DiskFile, slow: <T>(operation: () => Promise<T>) => Promise<T>): DiskFile {
  return {
    size: () => slow(() => file.size()),
    read: (into, position) => slow(() => file.read(into, position)),
    write: (bytes, position) => slow(() => file.write(bytes, position)),
    truncate: (size) => slow(() => file.truncate(size)),
    sync: () => slow(() => file.sync()),
    close: () => slow(() => file.close()),
  };
}
