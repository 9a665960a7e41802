import { crc32 } from "node:zlib";
import {
  type Disk,
  DiskError,
  type DiskFile,
  GroupCommit,
  readLines,
  type ScannedSegment,
  SegmentLog,
  segmentNames,
} from "../../src/disk/index.ts";

export const names = segmentNames({ digits: 6, suffix: ".log" });

interface NumberedLogOptions {
  readonly segmentBytes?: number;
  readonly reserveBytes?: number;
  readonly cutOff?: (cut: { readonly file: string; readonly offset: number }) => void;
}

/** A segment log of numbers with padding, each write a line with a checksum. A segment is named after its first number. */
export class NumberedLog {
  /** In the order in which the log has them. */
  readonly found: readonly number[];
  readonly segments: SegmentLog;
  readonly #disk: Disk;
  readonly #commit: GroupCommit<number>;

  static async open(disk: Disk, options: NumberedLogOptions = {}): Promise<NumberedLog> {
    const { segmentBytes = 300, reserveBytes = 1, cutOff = () => {} } = options;
    const found: number[] = [];
    const segments = await SegmentLog.open(disk, {
      names,
      scan: (file, { name }) => scan(file, name, (numbers) => found.push(...numbers)),
      reserveBytes,
      cutOff,
    });
    return new NumberedLog(disk, segments, found, segmentBytes);
  }

  private constructor(disk: Disk, segments: SegmentLog, found: readonly number[], segmentBytes: number) {
    this.#disk = disk;
    this.segments = segments;
    this.found = found;
    this.#commit = new GroupCommit({
      write: async (numbers) => {
        if (segments.isFull(segmentBytes)) await segments.rotate(numbers[0] as number);
        await segments.append(encode(numbers));
      },
      failed: (cause) => cause,
    });
  }

  append(number: number): Promise<void> {
    return this.#commit.add(number, 1);
  }

  async close(): Promise<void> {
    await this.#commit.idle();
    await this.segments.close();
    await this.#disk.close();
  }
}

export function encode(numbers: readonly number[]): Buffer {
  const text = JSON.stringify({ numbers, padding: "é".repeat((numbers[0] as number) % 40) });
  return Buffer.from(`${crc32(text)} ${text}\n`);
}

async function scan(file: DiskFile, name: string, take: (numbers: readonly number[]) => void): Promise<ScannedSegment> {
  let scanned = { records: 0, lastWrite: 0, end: 0, isTorn: false };
  for await (const { bytes, at, isEnded } of readLines(file)) {
    const numbers = isEnded ? decode(bytes.toString()) : undefined;
    if (numbers && scanned.isTorn) throw new DiskError("damaged", `${name} is damaged at byte ${scanned.end}`);
    if (!numbers) {
      scanned = { ...scanned, isTorn: scanned.isTorn || bytes.some((byte) => byte !== 0) };
      continue;
    }
    take(numbers);
    scanned = { records: scanned.records + 1, lastWrite: at, end: at + bytes.length + 1, isTorn: false };
  }
  return scanned;
}

function decode(line: string): readonly number[] | undefined {
  const space = line.indexOf(" ");
  const text = line.slice(space + 1);
  return Number(line.slice(0, space)) === crc32(text) ? JSON.parse(text).numbers : undefined;
}
