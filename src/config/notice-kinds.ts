import { isIP } from "node:net";
import { z } from "../schema/index.ts";
import { type Kind, listKind, notation, secretKind, settingKind } from "./kind.ts";
import type { Secret } from "./secret.ts";

/** The address that notices are posted to. Such an address is often a secret by itself. */
export function secretUrl(): Kind<Secret> {
  return secretKind(
    {
      expects: "a URL that begins with https:// or http://",
      limits: "An `https://` or `http://` URL. Never printed.",
      wrong: "is no such URL (it is not repeated here)",
    },
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/\s/.test(text),
  );
}

/** The id of a channel in Slack. Its name does not identify it for all methods, and may change. */
export function slackChannelId(): Kind<string> {
  return settingKind({
    expects: "the id of a Slack channel, such as C024BE91L (in Slack: the details of the channel, at the end)",
    limits: "Such as `C024BE91L`; not the name of the channel.",
    schema: z.string().regex(/^[CDG][A-Z0-9]{2,20}$/),
  });
}

/** A server that accepts mail. `tls`: the connection is encrypted from the first byte. */
export interface MailServerSetting {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** The server that mail is sent through. */
export function mailServer(): Kind<MailServerSetting> {
  return settingKind({
    expects: "a server such as smtp://mail.example.com:587 or smtps://mail.example.com:465, without a user or password",
    limits:
      "`smtp://HOST:PORT`, or `smtps://HOST:PORT` for TLS from the first byte. Ports are 587 and 465 unless given.",
    schema: notation((text) => {
      const [, scheme, host = "", port] =
        /^(smtps?):\/\/([\w.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?\/?$/i.exec(text) ?? [];
      const tls = scheme === "smtps";
      const number = Number(port ?? (tls ? 465 : 587));
      return scheme && number > 0 && number < 65_536
        ? { host: host.replace(/^\[|\]$/g, ""), port: number, tls }
        : undefined;
    }),
    print: ({ host, port, tls }) => `${tls ? "smtps" : "smtp"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
  });
}

const mailAddressPattern = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/;

/** The address of a mailbox, without a display name. */
export function mailAddress(): Kind<string> {
  return settingKind({
    expects: "an address such as interlock@example.com",
    schema: z.string().regex(mailAddressPattern),
  });
}

/** Addresses of mailboxes, with commas between them. */
export function mailAddresses(): Kind<readonly string[]> {
  return listKind({
    expects: "addresses such as oncall@example.com, with commas between them",
    item: z.string().regex(mailAddressPattern),
  });
}

/** Networks, with commas between them. */
export function networks(): Kind<readonly string[]> {
  return listKind({
    expects: "networks such as 10.1.0.0/16 or fd00::/8, with commas between them",
    limits: "Such as `10.1.0.0/16, fd00::/8`.",
    item: z.string().refine(isNetwork),
  });
}

function isNetwork(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** The notices that go to some channels: those that meet all conditions. */
export interface NoticeRoute {
  readonly eventType?: readonly string[];
  readonly severity?: readonly string[];
  readonly namespace?: readonly string[];
  readonly target?: readonly string[];
  readonly channels: readonly string[];
}

const conditionNames = ["eventType", "severity", "namespace", "target"];
const channelNames = ["console", "file", "webhook", "slack", "mattermost", "teams", "pagerduty", "opsgenie", "email"];
const channelWords = ["all", ...channelNames];

/** Routes of notices, with semicolons between them. */
export function noticeRoutes(): Kind<readonly NoticeRoute[]> {
  return settingKind({
    expects:
      "routes such as severity=critical target=prod/* -> slack, webhook; any -> file, with eventType, severity, namespace and target as conditions",
    limits: `\`CONDITIONS -> CHANNELS\`, with semicolons between several; all that fit count. Conditions are \`any\`, or one or more of \`eventType\`, \`severity\`, \`namespace\`, \`target\`, such as \`severity=warning|critical target=prod/*\`. Channels are ${channelWords.map((name) => `\`${name}\``).join(", ")}.`,
    schema: notation((text) => {
      const routes = text
        .split(";")
        .filter((part) => part.trim() !== "")
        .map(parseRoute);
      const value = routes.filter((route) => route !== undefined);
      return value.length > 0 && value.length === routes.length ? value : undefined;
    }),
    print: (value) => value.map(printRoute).join("; "),
  });
}

function parseRoute(text: string): NoticeRoute | undefined {
  const [before = "", after = "", ...more] = text.split("->").map((part) => part.trim());
  const channels = after.split(",").map((name) => name.trim());
  if (more.length > 0 || !channels.every((name) => channelWords.includes(name))) return undefined;
  const conditions: Record<string, string[]> = {};
  for (const word of before === "any" ? [] : before.split(/\s+/)) {
    const [, name = "", patterns = ""] = /^(\w+)=(\S+)$/.exec(word) ?? [];
    if (!conditionNames.includes(name) || name in conditions) return undefined;
    conditions[name] = patterns.split("|");
  }
  return { ...conditions, channels };
}

function printRoute({ channels, ...conditions }: NoticeRoute): string {
  const words = Object.entries(conditions).map(([name, patterns]) => `${name}=${patterns.join("|")}`);
  return `${words.join(" ") || "any"} -> ${channels.join(", ")}`;
}
