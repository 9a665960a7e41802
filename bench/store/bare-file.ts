import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { machineMs } from "../locks/machine-time.ts";

/** What the disk alone allows: a file to which is appended, each time durable before the next. */
export class BareFile {
  readonly #file: FileHandle;
  readonly #data: Buffer;

  private constructor(file: FileHandle, bytes: number) {
    this.#file = file;
    this.#data = Buffer.alloc(bytes, "x");
  }

  /** It stays until the whole folder goes: some disks are slow for a while after a file was deleted. */
  static async open(folder: string, bytes: number): Promise<BareFile> {
    return new BareFile(await open(join(folder, `bare-${bytes}`), "w"), bytes);
  }

  async appendsPerSecond(count: number): Promise<number> {
    const startedAt = machineMs();
    for (let i = 0; i < count; i++) {
      await this.#file.write(this.#data);
      await this.#file.datasync();
    }
    return (1_000 * count) / (machineMs() - startedAt);
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
