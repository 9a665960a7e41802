import type { Disk, DiskFile, OpenMode } from "../../src/disk/index.ts";
import type { Dice } from "../chaos/dice.ts";
import { settle } from "../doubles/manual-clock.ts";

/**
 * A disk that keeps only what it must. What was not synced may be there after a power cut, in part, or not at all; a
 * write that failed leaves bytes that are read back but never reach the disk. Every operation is a step, and the
 * process that uses it can be made to die, or the operation to fail, at any of them.
 */
export class LossyDisk {
  readonly #dice: Dice;
  #names = new Map<string, File>();
  #durableNames = new Map<string, File>();
  /** Since the last sync of the directory. */
  #unsyncedNames: NameChange[] = [];
  #process: Process | undefined;

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  /** Opens it for a new process, which dies before the operation number `diesAt` is complete. */
  open({ diesAt = Number.POSITIVE_INFINITY, fails = () => false }: Fate = {}): Life {
    if (this.#process?.isAlive) throw new Error("in use by a living process");
    const process = new Process(diesAt, fails);
    this.#process = process;
    return { disk: this.#diskOf(process), died: process.died, steps: () => process.steps };
  }

  /** The process is gone; the operating system is not, and still has everything that was written. */
  kill(): void {
    this.#process?.die();
  }

  /** Everything that was not synced is up to chance. */
  cutPower(): void {
    this.kill();
    for (const change of this.#unsyncedNames) if (this.#dice.chance(0.5)) apply(this.#durableNames, change);
    this.#names = new Map(this.#durableNames);
    this.#unsyncedNames = [];
    for (const file of this.#names.values()) file.losePower(this.#dice);
  }

  /** The bytes of a file, to be looked at and damaged. */
  bytesOf(name: string): Buffer {
    const file = this.#names.get(name);
    if (!file) throw new Error(`no file ${name}`);
    return file.current;
  }

  get names(): string[] {
    return [...this.#names.keys()].sort();
  }

  #diskOf(process: Process): Disk {
    return {
      directory: "/lossy",
      names: () => process.step(() => this.names),
      open: (name, mode) => process.step(() => this.#openFile(process, name, mode)),
      rename: (from, to) => process.step(() => this.#change([to, this.#existing(from)], [from, undefined])),
      remove: (name) => process.step(() => this.#change([name, undefined])),
      sync: () =>
        process.step(() => {
          for (const change of this.#unsyncedNames) apply(this.#durableNames, change);
          this.#unsyncedNames = [];
        }),
      close: async () => process.end(),
    };
  }

  #openFile(process: Process, name: string, mode: OpenMode): DiskFile {
    if (mode === "create" || mode === "create-durable") this.#change([name, new File()]);
    const file = this.#existing(name);
    const isDurable = mode === "durable" || mode === "create-durable";
    return {
      size: () => process.step(() => file.current.length),
      read: (into, position) => process.step(() => file.current.copy(into, 0, position)),
      write: (bytes, position) => {
        const write = { position, bytes: Buffer.from(bytes) };
        return process.step(
          () => {
            file.write(write);
            if (isDurable) file.sync();
          },
          (hasFailed) => file.writeInPart(write, this.#dice, hasFailed),
        );
      },
      truncate: (size) => process.step(() => file.truncate(size)),
      sync: () => process.step(() => file.sync()),
      close: () => process.step(() => {}),
    };
  }

  #change(...change: NameChange) {
    apply(this.#names, change);
    this.#unsyncedNames.push(change);
  }

  #existing(name: string): File {
    const file = this.#names.get(name);
    if (!file) throw new Error(`ENOENT: ${name}`);
    return file;
  }
}

export interface Fate {
  readonly diesAt?: number;
  /** Whether the operation with this number fails. */
  readonly fails?: (step: number) => boolean;
}

export interface Life {
  readonly disk: Disk;
  /** Resolves when the process dies. */
  readonly died: Promise<void>;
  steps(): number;
}

type NameChange = readonly (readonly [name: string, file: File | undefined])[];

function apply(names: Map<string, File>, change: NameChange) {
  for (const [name, file] of change) {
    if (file) names.set(name, file);
    else names.delete(name);
  }
}

class Process {
  isAlive = true;
  steps = 0;
  readonly died: Promise<void>;
  readonly #diesAt: number;
  readonly #fails: (step: number) => boolean;
  #tellDeath: () => void = () => {};

  constructor(diesAt: number, fails: (step: number) => boolean) {
    this.#diesAt = diesAt;
    this.#fails = fails;
    this.died = new Promise((resolve) => {
      this.#tellDeath = resolve;
    });
  }

  /** Does `whole`, or dies or fails on the way. Who is dead waits for ever. */
  async step<T>(whole: () => T, inPart: (hasFailed: boolean) => void = () => {}): Promise<T> {
    // A disk takes its time, and others of the process go on meanwhile.
    await settle();
    if (!this.isAlive) return new Promise(() => {});
    this.steps++;
    if (this.steps === this.#diesAt) {
      inPart(false);
      this.die();
      return new Promise(() => {});
    }
    if (this.#fails(this.steps)) {
      inPart(true);
      throw new Error("EIO: the disk does not like this");
    }
    return whole();
  }

  end(): void {
    this.isAlive = false;
  }

  die(): void {
    this.end();
    this.#tellDeath();
  }
}

interface Write {
  readonly position: number;
  readonly bytes: Buffer;
}

type FileChange = Write | { readonly size: number };

class File {
  /** What a reader sees. */
  current: Buffer = Buffer.alloc(0);
  #durable: Buffer = Buffer.alloc(0);
  #unsynced: FileChange[] = [];

  write(write: FileChange): void {
    this.current = changed(this.current, write);
    this.#unsynced.push(write);
  }

  truncate(size: number): void {
    this.write({ size });
  }

  /** Applies what was written since, and not simply what is read: after a failed write the two are not the same. */
  sync(): void {
    for (const change of this.#unsynced) this.#durable = changed(this.#durable, change);
    this.#unsynced = [];
  }

  writeInPart(write: Write, dice: Dice, hasFailed: boolean): void {
    const parts = torn(write, dice);
    if (!hasFailed) {
      for (const part of parts) this.write(part);
      return;
    }
    // For the operating system all of it is written; the disk has only `parts`.
    this.sync();
    this.current = changed(this.current, write);
    for (const part of parts) this.#durable = changed(this.#durable, part);
  }

  losePower(dice: Dice): void {
    for (const change of this.#unsynced) {
      if (dice.chance(0.4)) continue;
      const parts = "size" in change || dice.chance(0.5) ? [change] : torn(change, dice);
      for (const part of parts) this.#durable = changed(this.#durable, part);
    }
    this.current = Buffer.from(this.#durable);
    this.#unsynced = [];
  }
}

function changed(content: Buffer, change: FileChange): Buffer {
  const end = "size" in change ? change.size : Math.max(content.length, change.position + change.bytes.length);
  const result = Buffer.alloc(end);
  content.copy(result);
  if ("bytes" in change) change.bytes.copy(result, change.position);
  return result;
}

/**
 * A prefix that ends at any byte, or sectors that arrived in any order. Where none arrived stays what was there: zeros
 * behind the end of the file, which may have grown anyway.
 */
function torn({ position, bytes }: Write, dice: Dice): Write[] {
  // Logs reserve zeros behind a frame; most tears should hit the frame.
  const interesting = dice.chance(0.8) ? Math.min(bytes.length, 1_000) : bytes.length;
  if (dice.chance(0.6)) return [{ position, bytes: bytes.subarray(0, dice.whole(0, interesting)) }];

  const sectorBytes = dice.whole(16, 512);
  const arrived: Write[] = [{ position: position + bytes.length, bytes: Buffer.alloc(0) }];
  for (let at = 0; at < bytes.length; at += sectorBytes) {
    if (at < interesting && dice.chance(0.5)) continue;
    arrived.push({ position: position + at, bytes: bytes.subarray(at, at + sectorBytes) });
  }
  return arrived;
}
