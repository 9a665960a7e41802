import { writeSync } from "node:fs";

/**
 * Says a line on stdout. Not by process.stdout: what that cannot send at once it keeps, and SIGKILL would take it along.
 */
export function say(line: string) {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The pipe is full until it is read.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}
