import { closeSync, constants, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { KubeError } from "../../kube/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { SpilledText, TextSpill } from "./stored-object.ts";

const blockBytes = 1_024;

export interface FileSpillOptions {
  readonly log: Logger;
  /** Shorter texts stay in memory. */
  readonly minCharacters?: number;
}

/**
 * A spill in a file of `directory` without a name: no other process can open it, and it disappears with this one. The operating
 * system decides which pages stay in memory.
 */
export function openFileSpill(directory: string, { log, minCharacters = 1_024 }: FileSpillOptions): TextSpill {
  const path = join(directory, "spill");
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW, 0o600);
  unlinkSync(path);
  return new FileSpill(fd, log, minCharacters);
}

class FileSpill implements TextSpill {
  readonly #fd: number;
  readonly #log: Logger;
  readonly #minCharacters: number;
  readonly #blocks = new FreeBlocks();
  #bytes = Buffer.allocUnsafe(64 * 1_024);
  #hasFailed = false;
  #isClosed = false;

  constructor(fd: number, log: Logger, minCharacters: number) {
    this.#fd = fd;
    this.#log = log;
    this.#minCharacters = minCharacters;
  }

  put(text: string): SpilledText | undefined {
    if (this.#isClosed || text.length < this.#minCharacters) return undefined;
    const length = Buffer.byteLength(text);
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(2 * length);
    this.#bytes.write(text);
    const bytes = this.#bytes.subarray(0, length);
    const block = this.#blocks.allocate(length);
    try {
      const written = writeSync(this.#fd, bytes, 0, length, block * blockBytes);
      if (written === length) return new Spilled(this, block, length, crc32(bytes));
      throw new Error(`wrote ${written} of ${length} bytes`);
    } catch (error) {
      this.#blocks.release(block, length);
      if (!this.#hasFailed) this.#log.warn("spill write failed; large objects stay in memory", { error });
      this.#hasFailed = true;
      return undefined;
    }
  }

  read(block: number, length: number, checksum: number): string {
    // The number of a closed descriptor may belong to another file by now.
    if (this.#isClosed) throw new KubeError("unavailable", "the store is closed");
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafe(2 * length);
    const count = readSync(this.#fd, this.#bytes, 0, length, block * blockBytes);
    const bytes = this.#bytes.subarray(0, count);
    if (count === length && crc32(bytes) === checksum) return bytes.toString();
    throw new KubeError("unavailable", `the spill file is damaged at byte ${block * blockBytes}; restart the process`);
  }

  free(block: number, length: number): void {
    this.#blocks.release(block, length);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#fd);
  }
}

class Spilled implements SpilledText {
  readonly #file: FileSpill;
  readonly #block: number;
  readonly #length: number;
  readonly #checksum: number;

  constructor(file: FileSpill, block: number, length: number, checksum: number) {
    this.#file = file;
    this.#block = block;
    this.#length = length;
    this.#checksum = checksum;
  }

  read(): string {
    return this.#file.read(this.#block, this.#length, this.#checksum);
  }

  free(): void {
    this.#file.free(this.#block, this.#length);
  }
}

/** The free blocks of the file. Released blocks are used again for a text of the same number of blocks. */
class FreeBlocks {
  readonly #free = new Map<number, number[]>();
  #end = 0;

  allocate(length: number): number {
    const blocks = Math.ceil(length / blockBytes);
    const freed = this.#free.get(blocks)?.pop();
    if (freed !== undefined) return freed;
    this.#end += blocks;
    return this.#end - blocks;
  }

  release(block: number, length: number): void {
    const blocks = Math.ceil(length / blockBytes);
    const freed = this.#free.get(blocks);
    if (freed) freed.push(block);
    else this.#free.set(blocks, [block]);
  }
}
