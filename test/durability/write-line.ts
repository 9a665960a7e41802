import { writeSync } from "node:fs";

/**
 * Writes a line to stdout. Not by process.stdout: what that cannot send at once it keeps, and SIGKILL would take it along.
 */
export function writeLine(line: string) {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full until it is read.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}
