import { join } from "node:path";
import type { Disk, DiskFile } from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { LedgerError } from "../ledger.ts";
import { lastRows } from "./last-rows.ts";
import { damaged, readChain } from "./read-chain.ts";
import { type Head, noHash } from "./row.ts";
import { type Segment, segmentsAmong, sizeOf } from "./segments.ts";

/** What an earlier process left. */
export interface Recovered {
  readonly head: Head;
  /** The segment to go on with, and its length; undefined if there is none. */
  readonly segment: OpenSegment | undefined;
  /** Of all segments before it. */
  readonly olderBytes: number;
}

export interface OpenSegment {
  readonly file: DiskFile;
  readonly bytes: number;
}

/**
 * Finds the end of the chain, and makes it a place to go on from: what a crash cut short is cut off, and all that stays
 * is durable. Looks at the newest segment and at the end of the one before, so that a long history does not make a
 * start slow; all the rest is for `verifyLedger`. Throws `damaged`.
 */
export async function recover(disk: Disk, writer: string, log: Logger): Promise<Recovered> {
  const segments = segmentsAmong(await disk.names());
  const newest = segments.at(-1);
  if (!newest) return { head: { seq: 0, hash: noHash }, segment: undefined, olderBytes: 0 };

  const after = await headBefore(disk, segments, writer);
  const found = await findEnd(disk, newest, { writer, after });
  if (found.cutBytes > 0) {
    log.warn("incomplete write cut off", { file: newest.name, offset: found.end, bytes: found.cutBytes });
  }
  let olderBytes = 0;
  for (const { name } of segments.slice(0, -1)) olderBytes += await sizeOf(disk, name);
  const file = await disk.open(newest.name, "durable");
  try {
    await settle(file, found);
    // The process before may have died between creating the segment and making its name durable.
    await disk.sync();
  } catch (error) {
    await file.close().catch(() => {});
    throw error;
  }
  return { head: found.head, segment: { file, bytes: found.end }, olderBytes };
}

/** Where the segment before the newest ends. Rows are added to a new one only when those of the last are durable. */
async function headBefore(disk: Disk, segments: readonly Segment[], writer: string): Promise<Head> {
  const before = segments.at(-2);
  if (!before) return { seq: 0, hash: noHash };
  const { rows, isWhole } = await lastRows(disk, before, writer);
  const last = rows.at(-1);
  if (last && isWhole) return last;
  throw new LedgerError("damaged", `${join(disk.directory, before.name)} is damaged near its end`);
}

interface Found {
  readonly head: Head;
  /** Where the last write begins of which anything is left, and where that ends. */
  readonly lastWrite: number;
  readonly end: number;
  readonly cutBytes: number;
}

async function findEnd(disk: Disk, newest: Segment, { writer, after }: { writer: string; after: Head }) {
  let found: Found = { head: after, lastWrite: 0, end: 0, cutBytes: 0 };
  let synced = -1;
  for await (const item of readChain(disk, writer, { segments: [newest], after })) {
    if (item.kind === "problem") throw damaged(item.problem);
    if (item.kind === "tail") continue;
    const { row, line } = item;
    const lastWrite = row.synced === synced ? found.lastWrite : line.at;
    synced = row.synced;
    found = { ...found, head: row, lastWrite, end: line.at + line.bytes.length + 1 };
  }
  return { ...found, cutBytes: (await sizeOf(disk, newest.name)) - found.end };
}

/**
 * The last write is written once more. Whoever wrote it may have been told that it failed: then the operating system
 * shows bytes that it has given up writing, and a sync alone would not bring them to the disk.
 */
async function settle(file: DiskFile, { lastWrite, end }: Found) {
  await file.truncate(end);
  const bytes = Buffer.alloc(end - lastWrite);
  await file.read(bytes, lastWrite);
  await file.write(bytes, lastWrite);
  await file.sync();
}
