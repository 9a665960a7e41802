import type { Channel } from "../channel.ts";
import { textOf } from "../message.ts";

/** Tells whoever looks at this process' output. */
export function consoleChannel(print: (text: string) => void): Channel {
  return {
    name: "console",
    async deliver(message) {
      print(textOf(message));
      return { status: "success" };
    },
  };
}
