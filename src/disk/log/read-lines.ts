import type { DiskFile } from "../disk.ts";

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
 * The lines of a file from `start` on. Another process may be writing to it: the first read that reaches its end is the
 * last, because a line that was incomplete then may have been cut off and replaced since.
 */
export async function* readLines(file: DiskFile, start = 0): AsyncGenerator<Line> {
  let number = 1;
  let at = start;
  /** The parts of a line whose end has not been read yet. */
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
