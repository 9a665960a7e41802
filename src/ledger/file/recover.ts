import { join } from "node:path";
import {
  type Disk,
  type DiskFile,
  readLines,
  type Salvage,
  type ScannedSegment,
  type Segment,
  SegmentLog,
} from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { LedgerError } from "../ledger.ts";
import { type ChainItem, journalSegments } from "./chain.ts";
import { follows, lastRows } from "./last-rows.ts";
import { damagedError, readChain } from "./read-chain.ts";
import { type Head, noHash, readRow } from "./row.ts";

/** The log of a journal, and the newest row in it that is durable. */
export interface JournalLog {
  readonly segments: SegmentLog;
  head: Head;
}

/**
 * Opens the log of a journal. Reads the newest segment and the end of the one before, so that a long history does not make
 * a start slow; all the rest is for `verifyLedger`. Throws `damaged`.
 */
export async function openJournalLog(disk: Disk, writer: string, log: Logger): Promise<JournalLog> {
  const found = journalSegments.among(await disk.names());
  const chain = { head: await headBefore(disk, found, writer) };
  const segments = await SegmentLog.open(disk, {
    names: journalSegments,
    from: found.at(-1)?.number ?? 1,
    scan: (file, segment) => scanRows(file, readChain(disk, writer, { segments: [segment], after: chain.head }), chain),
    salvage: (file, end) => salvageRows(file, end, chain),
    cutOff: (cut) => log.warn("incomplete write cut off", cut),
  });
  return Object.assign(chain, { segments });
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

async function scanRows(
  file: DiskFile,
  items: AsyncIterable<ChainItem>,
  chain: { head: Head },
): Promise<ScannedSegment> {
  let scanned = { records: 0, lastWrite: 0, end: 0 };
  let synced = -1;
  for await (const item of items) {
    if (item.kind === "problem") throw damagedError(item.problem);
    if (item.kind === "tail") continue;
    const { row, line } = item;
    // Rows that were written together name the same row as the last one that was durable before.
    const lastWrite = row.synced === synced ? scanned.lastWrite : line.at;
    synced = row.synced;
    chain.head = row;
    scanned = { records: scanned.records + 1, lastWrite, end: line.at + line.bytes.length + 1 };
  }
  return { ...scanned, isTorn: (await file.size()) > scanned.end };
}

/**
 * The whole rows of a write that failed. They stay, because another writer may have read them and recorded their hashes as
 * our head; recorded again, they are merged on read.
 */
async function salvageRows(file: DiskFile, from: number, chain: { head: Head }): Promise<Salvage> {
  let { head } = chain;
  let end = from;
  for await (const { bytes, at, isEnded } of readLines(file, from)) {
    const row = isEnded ? readRow(bytes) : undefined;
    if (!row || !follows(row, head)) break;
    head = row;
    end = at + bytes.length + 1;
  }
  return {
    end,
    settled() {
      chain.head = head;
    },
  };
}
