import { type Disk, DiskError } from "../../disk/index.ts";
import { type Frame, FrameBuilder, jsonFrame, readJsonFrame } from "./frame.ts";
import { drafts, headingFrame, readHeading, snapshots } from "./log-files.ts";
import { addChange, type LoggedChange, readChanges } from "./logged-change.ts";
import { readFrames } from "./read-frames.ts";
import type { StoredObject } from "./stored-object.ts";

/** Encoding this much takes well under a millisecond, so it does not delay other work. */
const frameBytes = 256 * 1024;
/** One sync of everything at the end would keep the disk from the log for seconds. */
const bytesPerSync = 4 * 1024 * 1024;

export interface SnapshotContent {
  readonly revision: number;
  /** Read while writes go on: an object that has changed since `revision` may be left out, for the log has it. */
  readonly objects: Iterable<StoredObject>;
}

/**
 * Writes the snapshot of a generation beside the store's other work, a piece at a time. It gets its name when it is
 * complete, so an existing snapshot is complete. Resolves to its size.
 */
export async function writeSnapshot(
  disk: Disk,
  generation: number,
  { revision, objects }: SnapshotContent,
  signal: AbortSignal,
): Promise<number> {
  const file = await disk.open(drafts.name(generation), "create");
  let size = 0;
  let synced = 0;
  try {
    await write(headingFrame({ holds: "snapshot", revision }));
    await write(jsonFrame("end", { objects: await writeObjects() }));
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.rename(drafts.name(generation), snapshots.name(generation));
  await disk.sync();
  return size;

  async function writeObjects(): Promise<number> {
    const frame = new FrameBuilder();
    let count = 0;
    frame.start("changes");
    for (const object of objects) {
      addChange(frame, "put", object);
      count++;
      if (frame.size < frameBytes) continue;
      await write(frame.finish());
      frame.start("changes");
    }
    await write(frame.finish());
    return count;
  }

  async function write(frame: Buffer) {
    signal.throwIfAborted();
    await file.write(frame, size);
    size += frame.length;
    if (size - synced < bytesPerSync) return;
    await file.sync();
    synced = size;
  }
}

/** Calls `take` with every object of a snapshot. Resolves to its revision. */
export async function readSnapshot(disk: Disk, generation: number, take: (put: LoggedChange) => void): Promise<number> {
  const name = snapshots.name(generation);
  const path = `${disk.directory}/${name}`;
  const file = await disk.open(name, "read");
  let revision: number | undefined;
  let objects = 0;
  let expectedObjects: number | undefined;
  try {
    const { end, isTorn } = await readFrames(file, path, takeFrame);
    if (revision !== undefined && expectedObjects === objects && !isTorn) return revision;
    throw new DiskError("damaged", `${path} is damaged at byte ${end}: it is complete only up to there`);
  } finally {
    await file.close();
  }

  function takeFrame(frame: Frame) {
    switch (frame.kind) {
      case "heading":
        ({ revision } = readHeading(frame, path));
        return;
      case "end":
        ({ objects: expectedObjects } = readJsonFrame(frame) as { objects: number });
        return;
      case "changes":
        return readChanges(frame.payload, takeObject);
    }
  }

  function takeObject(put: LoggedChange) {
    objects++;
    take(put);
  }
}
