import { randomUUID } from "node:crypto";
import {
  demand,
  demandFields,
  hasControlCharacters,
  type ReceivedRequest,
  type ServiceDouble,
  startHttpDouble,
} from "./service.ts";

interface Block {
  readonly type: string;
  readonly text: { readonly type: string; readonly text: string; readonly emoji?: boolean };
}

interface SlackMessage {
  readonly ts: string;
  readonly thread_ts?: string;
  readonly metadata?: unknown;
  text: string;
}

const messageFields = ["channel", "text", "blocks", "parse", "link_names"];
const postFields = ["thread_ts", "reply_broadcast", "mrkdwn", "unfurl_links", "unfurl_media", "metadata"];

/**
 * Slack's Web API. Rules of docs.slack.dev that it enforces:
 *
 * - a bearer token (`invalid_auth`), and the scope of each method (`missing_scope`)
 * - `chat.*` takes JSON with a charset, `conversations.history` a form (`invalid_form_data`)
 * - a channel id that exists (`channel_not_found`)
 * - `text` of at most 40,000 characters; blocks: at most 50, a section text of 1 to 3,000 characters (`invalid_blocks`)
 * - `thread_ts` and `ts` of an existing message (`thread_not_found`, `message_not_found`)
 * - errors are HTTP 200 with `ok: false`
 *
 * It is stricter than Slack where text would be active: unescaped `<`, `>` and `&`, blocks with markup, and names that
 * become mentions, for which `chat.update` has another default than `chat.postMessage`.
 */
export async function startSlack(options: {
  readonly token: string;
  readonly channel: string;
  readonly scopes?: readonly string[];
}): Promise<ServiceDouble> {
  const { token, channel, scopes = ["chat:write", "channels:history"] } = options;
  const messages: SlackMessage[] = [];
  let seconds = 1_700_000_000;

  function serve({ path, headers, body }: ReceivedRequest) {
    const method = path.replace(/^\/api\//, "");
    const error = (code: string) => ({ status: 200, body: { ok: false, error: code } });
    demand(headers.authorization === `Bearer ${token}`, "invalid_auth", error("invalid_auth"));
    if (method === "conversations.history") {
      const isForm = headers["content-type"] === "application/x-www-form-urlencoded";
      demand(isForm, "invalid_form_data", error("invalid_form_data"));
      const form = new URLSearchParams(body);
      demand(form.get("channel") === channel, "channel_not_found", error("channel_not_found"));
      if (!scopes.includes("channels:history")) return error("missing_scope");
      const roots = messages.filter(({ thread_ts }) => thread_ts === undefined).reverse();
      const withMetadata = form.get("include_all_metadata") === "true";
      const found = roots.map(({ metadata, ...message }) => ({ ...message, ...(withMetadata ? { metadata } : {}) }));
      return { status: 200, body: { ok: true, messages: found.slice(0, Number(form.get("limit") ?? 100)) } };
    }
    demand(headers["content-type"] === "application/json; charset=utf-8", "missing_charset", error("invalid_json"));
    const sent = JSON.parse(body);
    demand(sent.channel === channel, "channel_not_found", error("channel_not_found"));
    checkText(sent);
    if (method === "chat.update") {
      demandFields(sent, [...messageFields, "ts"], method, error("invalid_arguments"));
      const message = messages.find(({ ts }) => ts === sent.ts);
      demand(message !== undefined, "message_not_found", error("message_not_found"));
      message.text = sent.text;
      return { status: 200, body: { ok: true, channel, ts: sent.ts } };
    }
    demand(method === "chat.postMessage", "unknown_method", error("unknown_method"));
    demandFields(sent, [...messageFields, ...postFields], method, error("invalid_arguments"));
    const isKnownThread = sent.thread_ts === undefined || messages.some(({ ts }) => ts === sent.thread_ts);
    demand(isKnownThread, "thread_not_found", error("thread_not_found"));
    demand(
      sent.reply_broadcast === undefined || sent.thread_ts,
      "reply_broadcast without thread_ts",
      error("invalid_arguments"),
    );
    const ts = `${++seconds}.${randomUUID().slice(0, 6)}`;
    messages.push({
      ts,
      text: sent.text,
      metadata: sent.metadata,
      ...(sent.thread_ts ? { thread_ts: sent.thread_ts } : {}),
    });
    return { status: 200, body: { ok: true, channel, ts } };
  }

  return await startHttpDouble(serve, () =>
    messages
      .filter(({ thread_ts }) => thread_ts === undefined)
      .map(({ ts, text }) => ({
        messages: [text, ...messages.filter(({ thread_ts }) => thread_ts === ts).map((reply) => reply.text)],
        isResolved: text.startsWith("\u{2705}"),
      })),
  );
}

interface SentText {
  readonly text?: unknown;
  readonly blocks?: readonly Block[];
  readonly parse?: unknown;
  readonly link_names?: unknown;
}

function checkText({ text, blocks, parse, link_names }: SentText): void {
  const invalid = { status: 200, body: { ok: false, error: "invalid_blocks" } };
  demand(typeof text === "string" && text.length > 0 && text.length <= 40_000, "msg_too_long", invalid);
  demandInert(text);
  demand(parse === "none" && link_names === false, "names must not become mentions", invalid);
  demand(Array.isArray(blocks) && blocks.length <= 50, "at most 50 blocks", invalid);
  for (const block of blocks) {
    demand(block.type === "section" && block.text.type === "plain_text", "a section of plain text", invalid);
    demand(block.text.text.length > 0 && block.text.text.length <= 3_000, "3,000 characters in a section", invalid);
    demandInert(block.text.text);
  }
}

/**
 * An incoming webhook of Slack. Rules of docs.slack.dev that it enforces: the secret path (404 `no_service`), JSON (400
 * `invalid_payload`), a text (400 `no_text`), and no field of the Web API that a webhook cannot use, such as `channel`.
 */
export async function startSlackWebhook({ path }: { readonly path: string }): Promise<ServiceDouble> {
  const posted: string[] = [];
  const known = ["text", "mrkdwn", "link_names", "unfurl_links", "unfurl_media"];
  return await startHttpDouble(
    (request) => {
      demand(request.path === path, "no_service", { status: 404, body: "no_service" });
      const isJson = request.headers["content-type"] === "application/json";
      demand(isJson, "invalid_payload", { status: 400, body: "invalid_payload" });
      const sent = JSON.parse(request.body);
      demandFields(sent, known, "a webhook", { status: 400, body: "invalid_payload" });
      demand(typeof sent.text === "string" && sent.text !== "", "no_text", { status: 400, body: "no_text" });
      demand(sent.mrkdwn === false && sent.link_names === false, "active markup", { status: 400 });
      demandInert(sent.text);
      posted.push(sent.text);
      return { status: 200, body: "ok" };
    },
    () => posted.map((text) => ({ messages: [text], isResolved: text.startsWith("\u{2705}") })),
  );
}

function demandInert(text: string): void {
  const invalid = { status: 200, body: { ok: false, error: "invalid_blocks" } };
  const isEscaped = !/[<>]/.test(text) && !/&(?!amp;|lt;|gt;)/.test(text);
  demand(isEscaped, "unescaped <, > or &", invalid);
  demand(!hasControlCharacters(text), "control characters", invalid);
}
