import { join } from "node:path";
import { type Disk, DiskError, type DiskFile, type ScannedSegment, SegmentLog } from "../../disk/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Frame } from "./frame.ts";
import { drafts, headingFrame, logs, readHeading, snapshots } from "./log-files.ts";
import { type LoggedChange, readChanges } from "./logged-change.ts";
import { readFrames } from "./read-frames.ts";
import { readSnapshot } from "./snapshot.ts";

interface RecoverOptions {
  readonly log: Logger;
  /** The revision before the first of a new store. */
  readonly newStoreAt: number;
  readonly reserveBytes: number;
}

/**
 * Reads the newest snapshot and every later log, and calls `take` with each change in order. Throws `damaged`, with file and
 * offset, rather than leave out anything that was once durable; then nothing was changed on disk.
 */
export async function recover(
  disk: Disk,
  take: (change: LoggedChange) => void,
  { log, newStoreAt, reserveBytes }: RecoverOptions,
): Promise<{ readonly revision: number; readonly segments: SegmentLog }> {
  const names = await disk.names();
  const snapshot = snapshots.among(names).at(-1)?.number;
  const first = snapshot ?? 1;
  if (snapshot && !names.includes(logs.name(snapshot))) throw missingError(disk, snapshot);
  // Without a snapshot, the first log has the initial revision.
  const state: State = { revision: snapshot && (await readSnapshot(disk, snapshot, take)), take };
  let next = first;

  const segments = await SegmentLog.open(disk, {
    names: logs,
    from: first,
    scan: async (file, { name, number }) => {
      if (number !== next) throw missingError(disk, next);
      next++;
      return scanLog(file, join(disk.directory, name), { state, needsHeading: number === snapshot });
    },
    reserveBytes,
    cutOff: (cut) => log.warn("incomplete write cut off", cut),
  });
  const { revision = newStoreAt } = state;
  const heading = headingFrame({ holds: "log", revision });
  if (segments.numbers.length === 0) await segments.rotate(first, heading);
  else if (segments.bytes === 0) await segments.append(heading);

  await segments.dropBefore(first);
  const unused = [...snapshots.among(names).slice(0, -1), ...drafts.among(names)];
  for (const { name } of unused) await disk.remove(name);
  return { revision, segments };
}

interface State {
  /** The newest so far. */
  revision: number | undefined;
  readonly take: (change: LoggedChange) => void;
}

async function scanLog(
  file: DiskFile,
  path: string,
  { state, needsHeading }: { readonly state: State; readonly needsHeading: boolean },
): Promise<ScannedSegment> {
  let continues = false;
  let records = 0;
  const { end, lastFrame, isTorn } = await readFrames(file, path, takeFrame);
  // The log of a snapshot is older than the snapshot.
  if (needsHeading && !continues) throw gap();
  return { records, end, lastWrite: lastFrame, isTorn };

  function takeFrame(frame: Frame, at: number) {
    if (frame.kind === "heading") {
      const before = readHeading(frame, path).revision;
      state.revision ??= before;
      continues = state.revision === before;
      return;
    }
    if (!continues) throw gap();
    records++;
    readChanges(frame.payload, (change) => {
      if (change.revision <= (state.revision ?? 0))
        throw damagedError(path, at, `revision ${change.revision} comes late`);
      state.revision = change.revision;
      state.take(change);
    });
  }

  function gap(): DiskError {
    return damagedError(path, 0, `it does not continue from revision ${state.revision}`);
  }
}

function damagedError(path: string, at: number, why: string): DiskError {
  return new DiskError("damaged", `${path} is damaged at byte ${at}: ${why}`);
}

function missingError({ directory }: Disk, number: number): DiskError {
  return new DiskError("damaged", `${join(directory, logs.name(number))} is missing`);
}
