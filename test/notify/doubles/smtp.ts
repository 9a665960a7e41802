import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { createSecureContext, TLSSocket } from "node:tls";
import { type Fault, hasControlCharacters, type ServiceDouble } from "./service.ts";

interface Mail {
  readonly id: string;
  readonly parent: string | undefined;
  readonly text: string;
}

export interface SmtpOptions {
  readonly user: string;
  readonly password: string;
  readonly certificate: string;
  readonly key: string;
  /** Addresses of recipients that the server rejects. */
  readonly unknownRecipients?: readonly string[];
}

/**
 * A submission server. Rules of RFC 5321, 5322, 4954 and 3207 that it enforces:
 *
 * - EHLO first, and again after STARTTLS (503); nothing but STARTTLS before the connection is encrypted (530)
 * - AUTH PLAIN with the right login before MAIL (530, 535); MAIL, RCPT and DATA in this order (503)
 * - lines end with CR LF and have at most 998 octets; a line that begins with a dot is stuffed
 * - From, To, Date, Message-ID and Subject exactly once, headers in ASCII, plain text as the only content (554)
 * - In-Reply-To refers to a message that exists
 *
 * Like most mail systems it shows a message with a known Message-ID once.
 */
export async function startSmtp(options: SmtpOptions): Promise<ServiceDouble> {
  const mails: Mail[] = [];
  const rejections: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    const fault = double.faults.shift();
    if (fault?.kind === "never") return;
    if (fault?.kind === "status") socket.end(`${fault.status} try again\r\n`);
    else converse(socket, fault);
  });

  function converse(plain: Socket, fault: Fault | undefined) {
    let socket: Socket = plain;
    let state = { isGreeted: false, isEncrypted: false, isLoggedIn: false, hasSender: false, recipients: 0 };
    let data: string | undefined;
    let rest = "";
    const reply = (...lines: string[]) =>
      socket.write(
        lines.map((line, i) => `${i < lines.length - 1 ? line.replace(/^(\d+) /, "$1-") : line}\r\n`).join(""),
      );
    const reject = (line: string) => {
      rejections.push(line);
      reply(line);
    };
    const listen = (on: Socket) => {
      on.on("error", () => {});
      on.on("data", (chunk) => {
        rest += chunk.toString("latin1");
        for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
          const line = rest.slice(0, end + 1);
          rest = rest.slice(end + 1);
          if (!line.endsWith("\r\n") || line.length > 1_000) reject("500 a line of at most 998 octets with CR LF");
          else if (data === undefined) command(line.slice(0, -2));
          else content(line.slice(0, -2));
        }
      });
    };

    function command(line: string) {
      const verb = line.split(" ")[0]?.toUpperCase() ?? "";
      if (verb === "QUIT") return socket.end("221 bye\r\n");
      if (verb === "RSET") return reply("250 ok");
      if (verb === "EHLO") {
        state = { ...state, isGreeted: true };
        return reply("250 double", state.isEncrypted ? "250 AUTH PLAIN" : "250 STARTTLS", "250 8BITMIME");
      }
      if (!state.isGreeted) return reject("503 EHLO first");
      if (verb === "STARTTLS") {
        reply("220 go ahead");
        plain.removeAllListeners("data");
        const { certificate: cert, key } = options;
        socket = new TLSSocket(plain, { isServer: true, secureContext: createSecureContext({ cert, key }) });
        state = { ...state, isGreeted: false, isEncrypted: true };
        return listen(socket);
      }
      if (!state.isEncrypted) return reject("530 STARTTLS first");
      if (verb === "AUTH") {
        const expected = Buffer.from(`\0${options.user}\0${options.password}`).toString("base64");
        if (line !== `AUTH PLAIN ${expected}`) return reject(`535 ${options.user} has another password than ${line}`);
        state = { ...state, isLoggedIn: true };
        return reply("235 ok");
      }
      if (!state.isLoggedIn) return reject("530 AUTH first");
      if (verb === "MAIL") {
        state = { ...state, hasSender: /^MAIL FROM:<[^<> ]+@[^<> ]+>/.test(line) };
        return state.hasSender ? reply("250 ok") : reject("501 MAIL");
      }
      if (verb === "RCPT" && state.hasSender) {
        const [, address = ""] = /^RCPT TO:<([^<> ]+@[^<> ]+)>/.exec(line) ?? [];
        if (address === "" || options.unknownRecipients?.includes(address)) return reply("550 unknown recipient");
        state = { ...state, recipients: state.recipients + 1 };
        return reply("250 ok");
      }
      if (verb !== "DATA" || state.recipients === 0) return reject(`503 ${verb} out of order`);
      data = "";
      return reply("354 go ahead");
    }

    function content(line: string) {
      if (line !== ".") {
        data += `${line.startsWith(".") ? line.slice(1) : line}\r\n`;
        return;
      }
      const mail = readMail(data ?? "", mails);
      data = undefined;
      if (typeof mail === "string") return reject(`554 ${mail}`);
      if (!mails.some(({ id }) => id === mail.id)) mails.push(mail);
      if (fault?.kind === "lost-response") plain.destroy();
      else reply("250 queued");
    }

    listen(plain);
    reply("220 double ESMTP");
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const double: ServiceDouble = {
    port: (server.address() as AddressInfo).port,
    faults: [],
    rejections,
    conversations: () =>
      mails
        .filter(({ parent }) => parent === undefined)
        .map((root) => {
          const all = [root, ...mails.filter(({ parent }) => parent === root.id)];
          const messages = all.map(({ text }) => text);
          return { messages, isResolved: messages.some((text) => text.startsWith("[resolved]")) };
        }),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return double;
}

/** Returns the mail, or the rule that it breaks. */
function readMail(data: string, known: readonly Mail[]): Mail | string {
  const end = data.indexOf("\r\n\r\n");
  const head = data.slice(0, end);
  if (/[^\r\n\t\x20-\x7e]/.test(head)) return "headers in ASCII";
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r\n[ \t]+/g, " ").split("\r\n")) {
    const [, name = "", value = ""] = /^([\w-]+): (.*)$/.exec(line) ?? [];
    if (name === "") return `no header: ${line}`;
    if (headers.has(name.toLowerCase())) return `${name} twice`;
    headers.set(name.toLowerCase(), value);
  }
  for (const name of ["from", "to", "date", "message-id", "subject"])
    if (!headers.has(name)) return `${name} is missing`;
  if (!headers.get("content-type")?.startsWith("text/plain; charset=utf-8")) return "plain text only";
  const id = headers.get("message-id") ?? "";
  if (!/^<[^<>@\s]+@[^<>@\s]+>$/.test(id)) return "Message-ID";
  const parent = headers.get("in-reply-to");
  if (parent !== undefined && !known.some((mail) => mail.id === parent)) return "In-Reply-To of an unknown message";
  if (parent !== headers.get("references")) return "References";
  const text = decode(data.slice(end + 4), headers.get("content-transfer-encoding")).trimEnd();
  if (hasControlCharacters(text.replaceAll("\r\n", "\n"))) return "control characters";
  return { id, parent, text: text.replaceAll("\r\n", "\n") };
}

function decode(body: string, encoding = "7bit"): string {
  if (encoding === "base64") return Buffer.from(body, "base64").toString("utf8");
  if (encoding === "7bit") return body;
  const bytes = body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
