import { join } from "node:path";
import { type Disk, DiskError, type DiskFile } from "../disk.ts";
import type { Segment, SegmentNames } from "./segment-names.ts";

export interface RecoverOptions {
  readonly names: SegmentNames;
  /** Segments with a smaller number are not read. */
  readonly from?: number;
  /**
   * Reads the records of one segment, in order. Throws if a durable record was changed: only a write that
   * was cut short, the last one, may leave something that is no record.
   */
  readonly scan: (file: DiskFile, segment: Segment) => Promise<ScannedSegment>;
  /** Each segment begins with everything that is still needed of those before it: they may end anywhere. */
  readonly isSelfContained?: boolean;
  /** Called for a write that was cut short, and is cut off. */
  readonly cutOff?: (cut: { readonly file: string; readonly offset: number; readonly bytes: number }) => void;
}

export interface ScannedSegment {
  /** Without the heading, if there is one. */
  readonly records: number;
  /** Where the last write begins of which a record is left. */
  readonly lastWrite: number;
  /** Where the last record ends. */
  readonly end: number;
  /** Something follows that is no record. */
  readonly isTorn: boolean;
}

interface FoundSegment extends Segment, ScannedSegment {
  readonly size: number;
}

/**
 * Finds the segments of a log and where each ends. Changes nothing on disk. `leftovers` were created for the next segment
 * and got no record; the segment before may have got more since.
 */
export async function recover(disk: Disk, { names, from = 0, scan, isSelfContained, cutOff }: RecoverOptions) {
  const older: FoundSegment[] = [];
  for (const segment of names.among(await disk.names())) {
    const file = await disk.open(segment.name, "read");
    try {
      const size = await file.size();
      const unread = { records: 1, lastWrite: size, end: size, isTorn: false };
      older.push({ ...segment, ...(segment.number < from ? unread : await scan(file, segment)), size });
    } finally {
      await file.close();
    }
  }

  const leftovers: FoundSegment[] = [];
  let newest = older.pop();
  for (let before = older.at(-1); newest?.records === 0 && before && before.number >= from; before = older.at(-1)) {
    leftovers.push(newest);
    newest = older.pop();
  }
  const broken = older.findIndex(({ isTorn, records }) => isTorn || records === 0);
  if (broken >= 0 && !isSelfContained) throw incomplete(disk, older[broken], older[broken + 1] ?? newest);
  if (newest?.isTorn) cutOff?.({ file: newest.name, offset: newest.end, bytes: newest.size - newest.end });
  return { older, newest, leftovers };
}

/**
 * Truncates the file at `end`, and writes the bytes behind `from` once more: the process that wrote them may have got an error.
 * Then the operating system shows bytes that it has given up writing, and a sync alone would not bring them to the disk.
 */
export async function settle(file: DiskFile, from: number, end: number): Promise<void> {
  await file.truncate(end);
  const bytes = Buffer.alloc(end - from);
  await file.read(bytes, from);
  if (bytes.length > 0) await file.write(bytes, from);
  await file.sync();
}

function incomplete({ directory }: Disk, broken?: FoundSegment, next?: Segment): DiskError {
  const place = `${join(directory, broken?.name ?? "")} is damaged at byte ${broken?.end}`;
  return new DiskError("damaged", `${place}: the record there is incomplete, but ${next?.name} follows`);
}
