import { isIP } from "node:net";
import { type Kind, wrong } from "./kinds.ts";
import { Secret } from "./secret.ts";

/** Where something is posted to. Such an address is often a secret by itself. */
export function secretUrl(): Kind<Secret> {
  const expects = "a URL that begins with https:// or http://";
  return {
    expects,
    limits: "An `https://` or `http://` URL. Never printed.",
    secret: true,
    read(text) {
      const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !/\s/.test(text);
      if (isHttp) return { kind: "value", value: new Secret(text) };
      return { kind: "wrong", wrong: "is no such URL (it is not repeated here)", instead: expects };
    },
    print: String,
  };
}

/** Networks, with commas between them. */
export function networks(): Kind<readonly string[]> {
  const expects = "networks such as 10.1.0.0/16 or fd00::/8, with commas between them";
  return {
    expects,
    limits: "Such as `10.1.0.0/16, fd00::/8`.",
    read(text) {
      const parts = text.split(",").map((part) => part.trim());
      return parts.every(isNetwork) ? { kind: "value", value: parts } : wrong(text, `is not ${expects}`, expects);
    },
    print: (value) => value.join(", "),
  };
}

function isNetwork(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Who is told of what. */
export interface NoticeRoute {
  readonly eventType?: readonly string[];
  readonly severity?: readonly string[];
  readonly namespace?: readonly string[];
  readonly target?: readonly string[];
  readonly channels: readonly string[];
}

const conditionNames = ["eventType", "severity", "namespace", "target"];
const channelNames = ["all", "console", "file", "webhook", "slack"];

/** Routes of notices, with semicolons between them. */
export function noticeRoutes(): Kind<readonly NoticeRoute[]> {
  const expects =
    "routes such as severity=critical target=prod/* -> slack, webhook; any -> file, with eventType, severity, namespace and target as conditions";
  return {
    expects,
    limits:
      "`CONDITIONS -> CHANNELS`, with semicolons between several; all that fit count. Conditions are `any`, or one or more of `eventType`, `severity`, `namespace`, `target`, such as `severity=warning|critical target=prod/*`. Channels are `all`, `console`, `file`, `webhook`, `slack`.",
    read(text) {
      const routes = text
        .split(";")
        .filter((part) => part.trim())
        .map(routeIn);
      const value = routes.filter((route) => route !== undefined);
      const areRight = value.length > 0 && value.length === routes.length;
      return areRight ? { kind: "value", value } : wrong(text, `is not ${expects}`, expects);
    },
    print: (value) => value.map(printRoute).join("; "),
  };
}

function routeIn(text: string): NoticeRoute | undefined {
  const [before = "", after = "", ...more] = text.split("->").map((part) => part.trim());
  const channels = after.split(",").map((name) => name.trim());
  if (more.length > 0 || !channels.every((name) => channelNames.includes(name))) return undefined;
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
