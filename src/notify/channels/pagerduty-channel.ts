import type { Channel } from "../channel.ts";
import type { Message } from "../message.ts";
import type { Addresses } from "./addresses.ts";
import { fitLines, plainLine } from "./fit-text.ts";
import { post } from "./post.ts";

export interface PagerdutyOptions {
  /** Such as `https://events.pagerduty.com`. */
  readonly url: string;
  /** The integration key of an Events API v2 integration. */
  readonly routingKey: string;
  readonly addresses: Addresses;
}

/**
 * Opens and resolves one PagerDuty alert for each incident, through the Events API v2. Its `dedup_key` derives from the
 * incident: an event that arrives twice, or whose response is lost, opens no second alert.
 */
export function pagerdutyChannel({ url, routingKey, addresses }: PagerdutyOptions): Channel {
  return {
    name: "pagerduty",
    style: "alert",
    deliver(message, signal) {
      const event = { routing_key: routingKey, dedup_key: `interlock/${message.thread.key}`, ...toEvent(message) };
      const target = `${url.replace(/\/$/, "")}/v2/enqueue`;
      return post({ url: target, body: JSON.stringify(event), headers: {} }, addresses, signal);
    },
  };
}

function toEvent(message: Message) {
  const { title, facts, next, severity, notice, thread } = message;
  if (thread.step === "resolve") return { event_action: "resolve" };
  const lines = facts.map((fact) => plainLine(fact));
  return {
    event_action: "trigger",
    client: "Interlock",
    payload: {
      summary: plainLine(title, maxSummaryLength),
      source: plainLine(notice.context?.targetResource ?? "interlock"),
      severity,
      class: notice.eventType,
      custom_details: {
        facts: fitLines(lines, maxFactsLength).join("\n"),
        next: plainLine(next),
      },
    },
  };
}

const maxSummaryLength = 1_024;
/** An event may have 512 KB. */
const maxFactsLength = 16_000;
