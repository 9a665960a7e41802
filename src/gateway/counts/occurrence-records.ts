import { crc32 } from "node:zlib";
import { DiskError, type DiskFile, readLines, type ScannedSegment } from "../../disk/index.ts";
import type { KeptTally, Tally } from "./tally.ts";

/** The part of a tally that changes with every signal. */
type TallyCount = Pick<KeptTally, "uid" | "count" | "written" | "lastSeenAt">;

/** The entries of one write: whole tallies, or only the counts of tallies that are already in the segment. */
export type OccurrenceRecord = readonly (KeptTally | TallyCount)[];

export function toCount({ uid, count, written, lastSeenAt }: Tally): TallyCount {
  return { uid, count, written, lastSeenAt };
}

/** A record is a line: a checksum and JSON. */
export function encodeRecord(record: OccurrenceRecord): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${checksum(json)} ${json}\n`);
}

/** Calls `take` with every record of a segment. Throws DiskError `damaged`. */
export async function scanRecords(
  file: DiskFile,
  path: string,
  take: (record: OccurrenceRecord) => void,
): Promise<ScannedSegment> {
  let scanned = { records: 0, lastWrite: 0, end: 0, isTorn: false };
  for await (const { bytes, at, isEnded } of readLines(file)) {
    const found = isEnded ? decodeLine(bytes) : undefined;
    // A record is durable before the next is written, so that only the last one can be incomplete.
    if (scanned.isTorn && Array.isArray(found)) throw damagedError(path, scanned.end, at);
    if (scanned.isTorn || !found) {
      scanned = { ...scanned, isTorn: true };
      continue;
    }
    take(Array.isArray(found) ? found : [found]);
    scanned = { records: scanned.records + 1, lastWrite: at, end: at + bytes.length + 1, isTorn: false };
  }
  return scanned;
}

/** Version 0.1.0 wrote several lines at once, one for each tally: such a line does not prove that the one before is complete. */
function decodeLine(bytes: Buffer): OccurrenceRecord | OccurrenceRecord[number] | undefined {
  const json = bytes.subarray(9);
  return bytes.toString("latin1", 0, 8) === checksum(json) ? JSON.parse(json.toString()) : undefined;
}

function checksum(json: string | Buffer): string {
  return crc32(json).toString(16).padStart(8, "0");
}

function damagedError(path: string, at: number, next: number): DiskError {
  const sign = `the record there is invalid, but a complete record follows at byte ${next}`;
  const help = "restore the file from a backup, or remove it: then counts that no status has yet are lost";
  return new DiskError("damaged", `${path} is damaged at byte ${at}: ${sign}; ${help}`);
}

/** Applies a record to the tallies of earlier records. */
export function applyRecord(record: OccurrenceRecord, tallies: Map<string, KeptTally>): void {
  for (const entry of record) {
    const known = tallies.get(entry.uid);
    if ("report" in entry) {
      const firing = new Map([...(known?.firing ?? []), ...entry.firing]);
      tallies.set(entry.uid, { ...entry, written: Math.max(known?.written ?? 0, entry.written), firing: [...firing] });
      for (const [uid, count] of entry.moved ?? []) moveAway(tallies, uid, count);
    } else if (known) {
      // A concurrent count of other signals may not include the moved counts yet.
      tallies.set(entry.uid, { ...known, ...entry, written: Math.max(known.written, entry.written) });
    }
  }
}

function moveAway(tallies: Map<string, KeptTally>, uid: string, count: number) {
  const known = tallies.get(uid);
  if (known) tallies.set(uid, { ...known, written: Math.max(known.written, count) });
}
