import type { Channel } from "../channel.ts";
import { messageLines } from "../message.ts";

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
