import type { Channel } from "../channel.ts";
import type { Message } from "../message.ts";
import type { Addresses } from "./addresses.ts";
import { plainLine, plainText } from "./fit-text.ts";
import { post } from "./post.ts";

export interface OpsgenieOptions {
  /** Such as `https://api.opsgenie.com`. */
  readonly url: string;
  /** The key of an API integration. */
  readonly apiKey: string;
  readonly addresses: Addresses;
}

/**
 * Opens and closes one Opsgenie alert for each incident. Its alias derives from the incident: a request that arrives twice,
 * or whose response is lost, opens no second alert.
 */
export function opsgenieChannel({ url, apiKey, addresses }: OpsgenieOptions): Channel {
  return {
    name: "opsgenie",
    style: "alert",
    async deliver(message, signal) {
      const alias = `interlock/${message.thread.key}`;
      const send = (path: string, body: object) =>
        post(
          {
            url: `${url.replace(/\/$/, "")}/v2/alerts${path}`,
            body: JSON.stringify({ ...body, source: "Interlock" }),
            headers: { authorization: `GenieKey ${apiKey}` },
          },
          addresses,
          signal,
        );
      const ofAlert = (action: string) => `/${encodeURIComponent(alias)}/${action}?identifierType=alias`;
      const note = { note: plainText(message, maxNoteLength) };
      if (message.thread.step === "resolve") return await send(ofAlert("close"), note);
      // Counts as one more occurrence of an open alert. An alert that a user closed is opened again.
      const created = await send("", { alias, ...toAlert(message) });
      if (created.status !== "success" || message.thread.step === "open") return created;
      return await send(ofAlert("notes"), note);
    },
  };
}

function toAlert(message: Message) {
  const { title, severity, notice } = message;
  return {
    message: plainLine(title, maxMessageLength),
    description: plainText(message, maxDescriptionLength),
    priority: priorities[severity],
    entity: plainLine(notice.context?.targetResource ?? "", maxEntityLength),
    tags: ["interlock", notice.eventType],
  };
}

const priorities = { critical: "P1", warning: "P3", info: "P5" } as const;

const maxMessageLength = 130;
const maxEntityLength = 512;
const maxDescriptionLength = 15_000;
const maxNoteLength = 25_000;
