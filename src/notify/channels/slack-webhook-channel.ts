import type { Channel } from "../channel.ts";
import type { Addresses } from "./addresses.ts";
import { post } from "./post.ts";
import { slackText } from "./slack-text.ts";

/**
 * Posts to a Slack channel through its incoming webhook. Such a webhook returns no id of the message, so that a message
 * can be neither answered in a thread nor changed: `slackBotChannel` can do both.
 */
export function slackWebhookChannel(options: { readonly url: string; readonly addresses: Addresses }): Channel {
  const { url, addresses } = options;
  return {
    name: "slack",
    style: "messages",
    deliver(message, signal) {
      // Without markup a name cannot look bold, quoted or like code, and no link in it is fetched for a preview.
      const inert = { mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false };
      const body = JSON.stringify({ text: slackText(message), ...inert });
      return post({ url, body, headers: { "idempotency-key": message.key } }, addresses, signal);
    },
  };
}
