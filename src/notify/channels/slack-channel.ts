import { toPrintable } from "../../telemetry/index.ts";
import type { Channel } from "../channel.ts";
import type { Addresses } from "./addresses.ts";
import { post } from "./post.ts";

const signs = { info: "\u{2139}\u{fe0f}", warning: "\u{26a0}\u{fe0f}", critical: "\u{1f6a8}" } as const;

/** Posts to a Slack channel through its incoming webhook. */
export function slackChannel({ url, addresses }: { readonly url: string; readonly addresses: Addresses }): Channel {
  return {
    name: "slack",
    deliver({ title, facts, next, severity, key }, signal) {
      const lines = [`${signs[severity]} ${inert(title)}`, ...facts.map(inert), `Next: ${inert(next)}`];
      // Without markup a name cannot look bold, quoted or like code, and no link in it is fetched for a preview.
      const options = { mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false };
      const body = JSON.stringify({ text: lines.join("\n"), ...options });
      return post({ url, body, headers: { "idempotency-key": key } }, addresses, signal);
    },
  };
}

/**
 * Text from outside stays on its line and mentions no user: `<!channel>`, `<@U1>` and `<https://…|text>` are plain
 * text.
 */
function inert(text: string): string {
  return toPrintable(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
