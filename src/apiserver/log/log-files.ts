import { DiskError, segmentNames } from "../../disk/index.ts";
import { type Frame, jsonFrame, readJsonFrame } from "./frame.ts";

/**
 * The files of a store, by generation:
 *
 *     00000007.snapshot   the objects when log 7 began; those that log 7 changes may be missing
 *     00000007.log        the changes since
 *     00000008.log        the changes after those, while snapshot 8 is being written
 *
 * Snapshot 8 appears under its name when it is complete and durable; then everything of generation 7 goes.
 */
export const logs = segmentNames({ digits: 8, suffix: ".log" });
export const snapshots = segmentNames({ digits: 8, suffix: ".snapshot" });
/** Of snapshots that are being written. */
export const drafts = segmentNames({ digits: 8, suffix: ".snapshot.new" });

/** The first frame of each file. */
export interface Heading {
  readonly holds: "log" | "snapshot";
  /** The newest revision before the first change of the log; the one whose state the snapshot shows. */
  readonly revision: number;
}

const format = "interlock-store/1";

export function headingFrame(heading: Heading): Buffer {
  return jsonFrame("heading", { format, ...heading });
}

export function readHeading(frame: Frame, path: string): Heading {
  const heading = readJsonFrame(frame) as Heading & { readonly format: string };
  if (heading.format === format) return heading;
  throw new DiskError("unsupported", `${path} is in the format ${heading.format}; this version reads ${format}`);
}
