import { parse, parseJson, z } from "../../schema/index.ts";
import type { Channel, Delivery } from "../channel.ts";
import type { Message } from "../message.ts";
import type { Addresses } from "./addresses.ts";
import { type DeliveryFailure, exchange } from "./post.ts";
import { resolvedSlackText, slackText } from "./slack-text.ts";

export interface SlackBotOptions {
  /** Such as `https://slack.com/api`. */
  readonly apiUrl: string;
  /** A bot token with the scope `chat:write`, and `channels:history` or `groups:history` to find messages again. */
  readonly token: string;
  /** The id of the Slack channel. */
  readonly channel: string;
  readonly addresses: Addresses;
}

/**
 * Posts to a Slack channel as a bot. The first message of an incident is the root of its thread; it is edited when the
 * incident is over. The id of a thread is the id of the Slack channel, a slash and the timestamp of the root.
 */
export function slackBotChannel(options: SlackBotOptions): Channel {
  const { channel } = options;
  return {
    name: "slack",
    style: "thread",
    async deliver(message, signal) {
      const call = (method: string, body: object) => callMethod(method, body, options, signal);
      const { step, opened } = message.thread;
      const root = opened ? { kind: "thread" as const, id: opened.id } : await findRoot(message, channel, call);
      switch (root.kind) {
        case "failure":
          return root.failure;
        case "delivered":
          return { status: "success", thread: root.id };
        case "none":
          return await openThread(message, channel, call);
        case "thread": {
          const failure = step === "resolve" ? await markResolved(message, root.id, call) : undefined;
          return failure ?? (await reply(message, root.id, call));
        }
      }
    },
  };
}

type CallSlack = (method: string, body: object) => Promise<MethodReply>;
type MethodReply =
  | { readonly kind: "ok"; readonly reply: Reply }
  /** Slack received the request, and will reject it again. */
  | { readonly kind: "rejected"; readonly failure: DeliveryFailure }
  | { readonly kind: "failure"; readonly failure: DeliveryFailure };

/** The first message about an incident. `delivered`: it is this very message, and the response to it was lost. */
type Root =
  | { readonly kind: "none" }
  | { readonly kind: "thread" | "delivered"; readonly id: string }
  | { readonly kind: "failure"; readonly failure: DeliveryFailure };

/** Slack has no idempotency keys: a message whose response was lost is found again by its metadata. */
async function findRoot({ key, thread }: Message, channel: string, call: CallSlack): Promise<Root> {
  const found = await call("conversations.history", { channel, limit: 100, include_all_metadata: true });
  if (found.kind === "failure") return found;
  // Without the scope to read the channel, a lost response may lead to a second message.
  if (found.kind === "rejected") return { kind: "none" };
  const root = found.reply.messages?.find(({ metadata }) => metadata?.event_payload?.incident === thread.key);
  if (!root?.ts) return { kind: "none" };
  const isSame = root.metadata?.event_payload?.notice === key;
  return { kind: isSame ? "delivered" : "thread", id: `${channel}/${root.ts}` };
}

async function openThread(message: Message, channel: string, call: CallSlack): Promise<Delivery> {
  const event_payload = { incident: message.thread.key, notice: message.key };
  const metadata = { event_type: "interlock_incident", event_payload };
  const posted = await call("chat.postMessage", { channel, ...content(slackText(message)), ...inert, metadata });
  if (posted.kind !== "ok") return posted.failure;
  return { status: "success", thread: `${channel}/${posted.reply.ts}` };
}

/** A reply is seen only in the thread, unless it is shown in the channel, too. */
async function reply(message: Message, id: string, call: CallSlack): Promise<Delivery> {
  const { channel, ts: thread_ts } = parseId(id);
  const reply_broadcast = message.severity !== "info";
  const body = { channel, thread_ts, reply_broadcast, ...content(slackText(message)), ...inert };
  const posted = await call("chat.postMessage", body);
  return posted.kind === "ok" ? { status: "success", thread: id } : posted.failure;
}

/** A root that was deleted, or is too old to be edited, is left alone: the reply reports the end, too. */
async function markResolved(message: Message, id: string, call: CallSlack): Promise<DeliveryFailure | undefined> {
  const updated = await call("chat.update", { ...parseId(id), ...content(resolvedSlackText(message)), ...unparsed });
  return updated.kind === "failure" ? updated.failure : undefined;
}

function parseId(id: string): { readonly channel: string; readonly ts: string } {
  const [channel = "", ts = ""] = id.split("/");
  return { channel, ts };
}

/** No names become mentions. The default is another one for an edited message than for a new one. */
const unparsed = { parse: "none", link_names: false };

/** No markup in the text for notifications, and no preview of links. */
const inert = { ...unparsed, mrkdwn: false, unfurl_links: false, unfurl_media: false };

/** `text` is for notifications; the block is displayed, and cannot contain markup. */
function content(text: string) {
  return { text, blocks: [{ type: "section", text: { type: "plain_text", text, emoji: false } }] };
}

const metadata = z.object({
  event_payload: z.object({ incident: z.string().optional(), notice: z.string().optional() }).optional(),
});
const replySchema = z.object({
  ok: z.boolean(),
  error: z.string().optional(),
  channel: z.string().optional(),
  ts: z.string().optional(),
  messages: z.array(z.object({ ts: z.string().optional(), metadata: metadata.optional() })).optional(),
});
type Reply = z.output<typeof replySchema>;

/** Errors that are not about the request. */
const transientErrors = new Set([
  "fatal_error",
  "internal_error",
  "ratelimited",
  "rate_limited",
  "request_timeout",
  "service_unavailable",
]);

async function callMethod(
  method: string,
  body: object,
  { apiUrl, token, addresses }: SlackBotOptions,
  signal: AbortSignal,
): Promise<MethodReply> {
  const url = `${apiUrl.replace(/\/$/, "")}/${method}`;
  // Methods that read accept forms only.
  const isRead = method.startsWith("conversations.");
  const type = isRead ? "application/x-www-form-urlencoded" : "application/json; charset=utf-8";
  const text = isRead ? new URLSearchParams(Object.entries(body)).toString() : JSON.stringify(body);
  const headers = { authorization: `Bearer ${token}`, "content-type": type };
  const outcome = await exchange({ url, body: text, headers }, addresses, signal);
  if (outcome.kind === "failure") return outcome;
  const { hostname } = new URL(url);
  const parsed = parse(replySchema, parseJson(outcome.body));
  if (parsed.kind === "invalid") {
    return { kind: "failure", failure: { status: "failed", error: `${hostname} responded with no valid JSON` } };
  }
  const reply = parsed.value as Reply;
  if (reply.ok) return { kind: "ok", reply };
  // Only the codes of Slack are repeated; any other text may contain a secret.
  const code = /^[a-z_]{1,64}$/.exec(reply.error ?? "")?.[0] ?? "an unknown error";
  const error = `${hostname} rejected ${method}: ${code}`;
  if (transientErrors.has(code)) return { kind: "failure", failure: { status: "failed", error } };
  return { kind: "rejected", failure: { status: "refused", error } };
}
