import { type FileHandle, open } from "node:fs/promises";
import type { Channel } from "../channel.ts";
import { messageLines } from "../message.ts";

/** Appends a line of JSON to a file, for other programs to follow. */
export function fileChannel(path: string): Channel {
  return {
    name: "file",
    style: "notices",
    async deliver({ key, notice, title, next }) {
      try {
        await using file = await open(path, "a+", 0o600);
        // A full disk, or a process that died, may have left half of a line, which would spoil this one.
        const begin = (await endsWithLine(file)) ? "" : "\n";
        await file.appendFile(`${begin}${JSON.stringify({ key, title, next, ...notice })}\n`);
        await file.sync();
        return { status: "success" };
      } catch (error) {
        return { status: "failed", error: `${path} is not writable: ${(error as NodeJS.ErrnoException).code}` };
      }
    },
  };
}

async function endsWithLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() === "\n";
}

/** Prints to the output of this process. `print` takes one line, and escapes control characters in it. */
export function consoleChannel(print: (line: string) => void): Channel {
  return {
    name: "console",
    style: "notices",
    async deliver(message) {
      for (const line of messageLines(message)) print(line);
      return { status: "success" };
    },
  };
}
