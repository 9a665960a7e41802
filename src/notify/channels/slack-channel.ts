import type { Channel } from "../channel.ts";
import type { Addresses } from "./addresses.ts";
import { post } from "./post.ts";

const signs = { info: ":information_source:", warning: ":warning:", critical: ":rotating_light:" } as const;

/** Posts to a Slack channel through its incoming webhook. */
export function slackChannel({ url, addresses }: { readonly url: string; readonly addresses: Addresses }): Channel {
  return {
    name: "slack",
    deliver({ title, facts, next, severity, key }, signal) {
      const lines = [`${signs[severity]} *${escaped(title)}*`, ...facts.map(escaped), `*Next:* ${escaped(next)}`];
      const body = JSON.stringify({ text: lines.join("\n") });
      return post({ url, body, headers: { "idempotency-key": key } }, addresses, signal);
    },
  };
}

/** A name must not become a link or call people. */
function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
