import type { DiskFile } from "../../disk/index.ts";

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Where it begins in the file. */
  readonly at: number;
  /** Without its newline. */
  readonly bytes: Buffer;
  /** Whether there is a newline behind it. Only the last one can be without. */
  readonly isEnded: boolean;
}

const windowBytes = 1024 * 1024;
const newline = 0x0a;

/**
 * The lines of a file from `start` on. Somebody may be writing to it: the first look that reaches its end is the last,
 * because what was cut short then may have been cut off and replaced at the next.
 */
export async function* readLines(file: DiskFile, start = 0): AsyncGenerator<Line> {
  let number = 1;
  let at = start;
  /** What was read of a line that has not ended yet. */
  let begun: Buffer[] = [];
  let count = windowBytes;
  for (let position = start; count === windowBytes; position += count) {
    const window = Buffer.allocUnsafe(windowBytes);
    count = await file.read(window, position);

    let from = 0;
    for (let end = window.indexOf(newline); end >= 0 && end < count; end = window.indexOf(newline, from)) {
      const rest = window.subarray(from, end);
      const bytes = begun.length > 0 ? Buffer.concat([...begun, rest]) : rest;
      yield { number: number++, at, bytes, isEnded: true };
      at += bytes.length + 1;
      begun = [];
      from = end + 1;
    }
    if (from < count) begun.push(window.subarray(from, count));
  }
  if (begun.length > 0) yield { number, at, bytes: Buffer.concat(begun), isEnded: false };
}
