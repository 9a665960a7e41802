import type { Channel } from "../channel.ts";
import type { Message } from "../message.ts";
import type { Addresses } from "./addresses.ts";
import { plainText } from "./fit-text.ts";
import { post } from "./post.ts";

/** Mattermost rejects posts that are longer than 16,383 characters. */
const maxLength = 16_000;

/**
 * Posts through an incoming webhook of Mattermost, or of a service that is compatible with it. Such a webhook returns no
 * id, so that a message can be neither answered in a thread nor changed.
 */
export function mattermostChannel(options: { readonly url: string; readonly addresses: Addresses }): Channel {
  const { url, addresses } = options;
  return {
    name: "mattermost",
    style: "messages",
    deliver(message, signal) {
      const body = JSON.stringify({ text: codeBlock(message) });
      return post({ url, body, headers: { "idempotency-key": message.key } }, addresses, signal);
    },
  };
}

/** In a code block there is no markup, no mention, no link and no emoji. Its fence is longer than any in the text. */
function codeBlock(message: Message): string {
  const text = plainText(message, maxLength);
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
