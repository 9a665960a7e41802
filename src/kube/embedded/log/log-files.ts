import { type Frame, wordsFrame, wordsOf } from "./frame.ts";
import { StoreError } from "./store-error.ts";

/**
 * What is on disk, by generation:
 *
 *     00000007.snapshot   the objects when log 7 began; those that log 7 changes may be missing
 *     00000007.log        the changes since
 *     00000008.log        the changes after those, while snapshot 8 is being written
 *
 * Snapshot 8 appears under its name when it is complete and durable; then everything of generation 7 goes.
 */
export const logName = (generation: number) => `${padded(generation)}.log`;
export const snapshotName = (generation: number) => `${padded(generation)}.snapshot`;
/** Of a snapshot that is being written. */
export const draftName = (generation: number) => `${snapshotName(generation)}.new`;

const namePattern = /^(\d{8,})\.(log|snapshot|snapshot\.new)$/;

export interface LogFileName {
  readonly name: string;
  readonly generation: number;
  readonly holds: "log" | "snapshot" | "snapshot.new";
}

/** The files among `names` that are ours, from the oldest generation to the newest. */
export function ourFiles(names: readonly string[]): LogFileName[] {
  const files: LogFileName[] = [];
  for (const name of names) {
    const [, generation, holds] = namePattern.exec(name) ?? [];
    if (holds) files.push({ name, generation: Number(generation), holds: holds as LogFileName["holds"] });
  }
  return files.sort((a, b) => a.generation - b.generation);
}

/** The first frame of each file. */
export interface Heading {
  readonly holds: "log" | "snapshot";
  /** The newest revision before the first change of the log; the one whose state the snapshot shows. */
  readonly revision: number;
}

const format = "interlock-store/1";

export function headingFrame(heading: Heading): Buffer {
  return wordsFrame("heading", { format, ...heading });
}

export function readHeading(frame: Frame, path: string): Heading {
  const heading = wordsOf(frame) as Heading & { readonly format: string };
  if (heading.format === format) return heading;
  throw new StoreError("unsupported", `${path} is in the format ${heading.format}; this version reads ${format}`);
}

function padded(generation: number): string {
  return String(generation).padStart(8, "0");
}
