import type { Channel } from "../channel.ts";
import type { Message } from "../message.ts";
import type { Addresses } from "./addresses.ts";
import { fitLines, plainLine } from "./fit-text.ts";
import { post } from "./post.ts";

/**
 * Posts Adaptive Cards to a Teams channel through the webhook of a workflow (Power Automate, "When a Teams webhook request
 * is received"). Such a webhook returns no id, so that a card can be neither answered nor changed.
 */
export function teamsChannel(options: { readonly url: string; readonly addresses: Addresses }): Channel {
  const { url, addresses } = options;
  return {
    name: "teams",
    style: "messages",
    deliver(message, signal) {
      const body = JSON.stringify({
        type: "message",
        attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content: toCard(message) }],
      });
      return post({ url, body, headers: {} }, addresses, signal);
    },
  };
}

function toCard({ title, facts, next, severity, thread }: Message) {
  const isResolved = thread.step === "resolve";
  const headline = { text: inert(title), weight: "bolder", color: isResolved ? "good" : colors[severity] };
  const state = isResolved ? "resolved" : `severity: ${severity}`;
  const lines = fitLines([state, ...facts, `Next: ${next}`].map(inert), maxCardBytes, jsonBytes);
  return {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [paragraph(headline), ...lines.map((text) => paragraph({ text }))],
  };
}

const colors = { info: "default", warning: "warning", critical: "attention" } as const;

/** Unlike a TextBlock, the runs of a RichTextBlock contain no Markdown: a name cannot be a link, an image or bold. */
function paragraph(run: { readonly text: string; readonly weight?: string; readonly color?: string }) {
  return { type: "RichTextBlock", inlines: [{ type: "TextRun", ...run }] };
}

/** Teams rejects a message of about 28 KB. The rest is for the other parts of the card. */
const maxCardBytes = 20_000;
const paragraphBytes = Buffer.byteLength(JSON.stringify(paragraph({ text: "" })));

function jsonBytes(line: string): number {
  return Buffer.byteLength(JSON.stringify(line)) + paragraphBytes;
}

/** `{{DATE(…)}}` is a function of Adaptive Cards in every text. */
function inert(text: string): string {
  return plainLine(text).replaceAll("{{", "{ {");
}
