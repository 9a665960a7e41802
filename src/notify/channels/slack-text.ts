import { cutText, toPrintable } from "../../telemetry/index.ts";
import type { Message } from "../message.ts";
import { fitLines } from "./fit-text.ts";

const signs = { info: "\u{2139}\u{fe0f}", warning: "\u{26a0}\u{fe0f}", critical: "\u{1f6a8}" } as const;
const resolvedSign = "\u{2705}";

/** The maximum length of a text in a section block. */
const maxLength = 3_000;
/** So that one long line does not displace all others. */
const maxLineLength = 1_000;

/** Returns the message as text for Slack, in which nothing from outside is markup. */
export function slackText({ title, facts, next, severity, thread }: Message): string {
  const sign = thread.step === "resolve" ? resolvedSign : signs[severity];
  return fitLines([`${sign} ${inert(title)}`, ...facts.map(inert), `Next: ${inert(next)}`], maxLength).join("\n");
}

/** Returns the first message of a thread as it reads after the resolution. */
export function resolvedSlackText({ title, thread }: Message): string {
  return [`${resolvedSign} ${inert(thread.opened?.title ?? title)}`, `Resolved: ${inert(title)}`].join("\n");
}

/**
 * Text from outside stays on its line and mentions no user: `<!channel>`, `<@U1>` and `<https://…|text>` are plain
 * text.
 */
function inert(text: string): string {
  const escaped = toPrintable(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  // A cut within an escape would leave the rest of it as text.
  return escaped.length <= maxLineLength ? escaped : `${cutText(escaped, maxLineLength).replace(/&[a-z]{0,3}…$/, "…")}`;
}
