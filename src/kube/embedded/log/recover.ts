import type { Disk } from "../../../disk/index.ts";
import type { Logger } from "../../../telemetry/index.ts";
import type { Frame } from "./frame.ts";
import { type LogFileName, logName, ourFiles, readHeading, snapshotName } from "./log-files.ts";
import { type LoggedChange, readChanges } from "./logged-change.ts";
import { readFrames } from "./read-frames.ts";
import { readSnapshot } from "./snapshot.ts";
import { StoreError } from "./store-error.ts";

/** What an earlier process left. */
export interface Recovered {
  readonly revision: number;
  /** Of all logs since the snapshot. */
  readonly logBytes: number;
  /** The log to go on with, and where its last frame ends; undefined in a new directory. */
  readonly log: { readonly generation: number; readonly end: number } | undefined;
  /** Files of interrupted work and of older generations. */
  readonly leftovers: readonly string[];
}

/**
 * Reads the newest snapshot and every log since, handing each change to `take` in order. Changes nothing on disk.
 * Throws `damaged`, with file and offset, rather than leave out anything that was once durable.
 */
export async function recover(
  disk: Disk,
  take: (change: LoggedChange) => void,
  { log, newStoreAt }: { readonly log: Logger; readonly newStoreAt: number },
): Promise<Recovered> {
  const files = ourFiles(await disk.names());
  const snapshot = files.findLast(({ holds }) => holds === "snapshot")?.generation;
  // Without a snapshot, the first log says where it began to count.
  let revision = snapshot ? await readSnapshot(disk, snapshot, take) : undefined;

  const logs = files.filter(({ holds, generation }) => holds === "log" && generation >= (snapshot ?? 1));
  const read: LogRead[] = [];
  for (const [i, file] of logs.entries()) {
    const expected = (snapshot ?? 1) + i;
    if (file.generation !== expected) throw missing(disk, expected);

    const next = await readLog(disk, file, revision, take);
    // A log gets its first change after the step that created it, and a step that failed may have left its log behind.
    if (next.changes === 0 && i === logs.length - 1 && file.generation !== snapshot) break;
    if (!next.continues)
      throw damaged(disk, { file, end: 0 }, `it does not continue from revision ${revision ?? newStoreAt}`);
    const previous = read.at(-1);
    if (previous?.torn) throw damaged(disk, previous, `the frame there is incomplete, although ${file.name} goes on`);
    read.push(next);
    revision = next.revision;
  }

  const newest = read.at(-1);
  if (snapshot && !newest) throw missing(disk, snapshot);
  if (newest?.torn) log.warn("incomplete frame cut off", { file: newest.file.name, offset: newest.end });
  const used = new Set([...read.map(({ file }) => file.name), snapshotName(snapshot ?? 0)]);
  return {
    revision: revision ?? newStoreAt,
    logBytes: read.reduce((sum, { end }) => sum + end, 0),
    log: newest && { generation: newest.file.generation, end: newest.end },
    leftovers: files.map(({ name }) => name).filter((name) => !used.has(name)),
  };
}

interface LogRead {
  readonly file: LogFileName;
  /** It has a heading, and begins where what was read before it ends. */
  readonly continues: boolean;
  readonly changes: number;
  /** The newest in it. */
  readonly revision: number;
  readonly end: number;
  readonly torn: boolean;
}

async function readLog(
  disk: Disk,
  file: LogFileName,
  revisionBefore: number | undefined,
  take: (change: LoggedChange) => void,
): Promise<LogRead> {
  const path = `${disk.directory}/${file.name}`;
  const opened = await disk.open(file.name, "read");
  let continues = false;
  let changes = 0;
  let revision = revisionBefore ?? 0;
  try {
    const { end, torn } = await readFrames(opened, path, takeFrame);
    return { file, continues, changes, revision, end, torn };
  } finally {
    await opened.close();
  }

  function takeFrame(frame: Frame, at: number) {
    if (frame.kind === "heading") {
      const begins = readHeading(frame, path).revision;
      continues = begins === (revisionBefore ?? begins);
      revision = revisionBefore ?? begins;
      return;
    }
    if (!continues) throw damaged(disk, { file, end: 0 }, `it does not continue from revision ${revision}`);
    readChanges(frame.payload, (change) => {
      if (change.revision <= revision) throw damaged(disk, { file, end: at }, `revision ${change.revision} comes late`);
      ({ revision } = change);
      changes++;
      take(change);
    });
  }
}

function damaged(disk: Disk, { file, end }: Pick<LogRead, "file" | "end">, why: string): StoreError {
  return new StoreError("damaged", `${disk.directory}/${file.name} is damaged at byte ${end}: ${why}`);
}

function missing(disk: Disk, generation: number): StoreError {
  return new StoreError("damaged", `${disk.directory}/${logName(generation)} is missing`);
}
