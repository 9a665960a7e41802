import { connect, isIP, type Socket } from "node:net";
// A library rather than our own SMTP: the encoding of headers, line lengths and dot stuffing have many special cases.
import { createTransport, type SentMessageInfo } from "nodemailer";
import type { Channel, Delivery } from "../channel.ts";
import type { Message } from "../message.ts";
import { type Addresses, refusal } from "./addresses.ts";
import { plainLine, plainText } from "./fit-text.ts";
import { connectionFailure, type DeliveryFailure } from "./post.ts";

export interface EmailOptions {
  readonly server: MailServer;
  /** Absent: the server accepts mail without a login. */
  readonly login?: { readonly user: string; readonly password: string } | undefined;
  /** PEM of the authorities that the certificate of the server may have, besides the usual ones. */
  readonly ca?: string | undefined;
  readonly from: string;
  readonly to: readonly string[];
  readonly addresses: Addresses;
  /** Milliseconds since 1970, for the date of a message. */
  readonly nowMs: () => number;
}

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `tls`: from the first byte. `starttls`: nothing is sent before the connection is encrypted. `none`: in clear text. */
  readonly security: "tls" | "starttls" | "none";
}

/**
 * Sends plain text mail. Later messages about an incident refer to the first one and have its subject, so that mail
 * clients show one thread. The `Message-ID` derives from the notice: a message that arrives twice can be recognised.
 */
export function emailChannel(options: EmailOptions): Channel {
  return {
    name: "email",
    style: "thread",
    async deliver(message, signal) {
      let socket: Socket | undefined;
      const stop = () => socket?.destroy();
      signal.addEventListener("abort", stop);
      try {
        socket = await openSocket(options, signal);
        return toDelivery(await send(message, socket, options), message, options);
      } catch (error) {
        return toFailure(error, options.server.host, signal);
      } finally {
        signal.removeEventListener("abort", stop);
        socket?.destroy();
      }
    },
  };
}

/** Connects to a checked address. */
function openSocket({ server, addresses }: EmailOptions, signal: AbortSignal): Promise<Socket> {
  const { host, port } = server;
  // Addresses are not looked up, so the lookup would not check them.
  if (isIP(host) && !addresses.allows(host)) return Promise.reject(refusal(host));
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: addresses.lookup, signal });
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket));
  });
}

async function send(message: Message, connection: Socket, options: EmailOptions): Promise<SentMessageInfo> {
  const { server, login, ca, from, to, nowMs } = options;
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: server.security === "tls",
    requireTLS: server.security === "starttls",
    ignoreTLS: server.security === "none",
    ...(login ? { auth: { user: login.user, pass: login.password } } : {}),
    ...(ca === undefined ? {} : { tls: { ca } }),
    getSocket: (_options, done) => done(null, { connection }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const { thread } = message;
  const title = plainLine(thread.opened?.title ?? message.title, maxSubjectLength);
  const parent = thread.opened?.id;
  return await transport.sendMail({
    from,
    to: [...to],
    date: new Date(nowMs()),
    messageId: messageId(message, options),
    subject: parent === undefined ? title : `Re: ${title}`,
    ...(parent === undefined ? {} : { inReplyTo: parent, references: parent }),
    // No vacation replies to a program.
    headers: { "Auto-Submitted": "auto-generated" },
    text: `${plainText(message, maxTextLength)}\n`,
  });
}

const maxSubjectLength = 200;
const maxTextLength = 100_000;

function messageId({ key }: Message, { from }: EmailOptions): string {
  return `<${key}.interlock@${from.slice(from.lastIndexOf("@") + 1).replace(/>$/, "")}>`;
}

function toDelivery({ rejected }: SentMessageInfo, message: Message, options: EmailOptions): Delivery {
  const { server, to } = options;
  const count = (rejected as readonly unknown[] | undefined)?.length ?? 0;
  if (count > 0) return { status: "refused", error: `${server.host} rejected ${count} of ${to.length} recipients` };
  return { status: "success", thread: message.thread.opened?.id ?? messageId(message, options) };
}

interface SmtpError {
  readonly code?: string;
  readonly responseCode?: number;
}

/** Only codes are repeated: the text of an error may contain the login. */
function toFailure(error: unknown, host: string, signal: AbortSignal): DeliveryFailure {
  const { code, responseCode } = error as SmtpError;
  if (responseCode === undefined || signal.aborted) {
    if (code === "ETLS") return { status: "refused", error: `${host} offers no encryption that can be used` };
    return connectionFailure(error, host, signal);
  }
  // Codes of 400 to 499 are temporary.
  const isTransient = responseCode < 500;
  return { status: isTransient ? "failed" : "refused", error: `${host} responded ${responseCode}` };
}
