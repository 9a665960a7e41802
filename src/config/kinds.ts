import { nearest } from "../schema/index.ts";
import { formatDuration, parseDuration } from "../time/index.ts";
import { Secret } from "./secret.ts";

/** How the values of a setting are written, checked and printed. */
export interface Kind<T> {
  /** What to write, to complete "Write …". */
  readonly expects: string;
  /** For the documentation: which values are accepted, where the meaning alone does not say. */
  readonly limits?: string;
  /** True: neither the value nor any text near it may be printed. */
  readonly secret?: true;
  /** True: a path on this machine; in a settings file it is relative to that file. */
  readonly isPath?: true;
  /** True: a structure in the file, not a single value; its text is JSON. */
  readonly isStructure?: true;
  read(text: string): ParsedSetting<T>;
  print(value: T): string;
}

/** `wrong` follows the name of the setting; `doubt` is accepted, but somebody should know. */
export type ParsedSetting<T> =
  | { readonly kind: "value"; readonly value: T; readonly doubt?: string }
  | { readonly kind: "wrong"; readonly wrong: string; readonly instead: string };

/** One word out of a short list. */
export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  const expects = `one of ${words.join(", ")}`;
  return {
    expects,
    limits: `One of ${words.map((word) => `\`${word}\``).join(", ")}.`,
    read(text) {
      const value = words.find((word) => word === text);
      if (value !== undefined) return { kind: "value", value };
      return wrong(text, `is not ${expects}`, nearest(text, words) ?? expects);
    },
    print: (value) => value,
  };
}

/** Where locks, claims and watermarks can live. */
export function backend() {
  return oneOf("memory", "redis", "kubernetes");
}

interface DurationLimits {
  /** Shorter is refused. */
  readonly atLeast?: string;
  /** Outside is accepted with a warning that gives the reason. */
  readonly usual?: { readonly from: string; readonly to: string; readonly because: string };
}

/** A length of time, in milliseconds once read. */
export function duration({ atLeast, usual }: DurationLimits = {}): Kind<number> {
  const expects = "a duration such as 500ms, 30s, 1m30s or 1h";
  const limits = [
    atLeast && `At least ${atLeast}.`,
    usual && `Outside ${usual.from} to ${usual.to} there is a warning.`,
  ];
  return {
    expects,
    limits: limits.filter(Boolean).join(" "),
    read(text) {
      const value = parseDuration(text);
      if (value === undefined && /^\d+$/.test(text)) return wrong(text, "has no unit", `${text}s, or ${expects}`);
      if (value === undefined) return wrong(text, "is not a duration", expects);
      if (atLeast && value < toMs(atLeast)) return wrong(text, `is shorter than ${atLeast}`, `${atLeast} or more`);

      const isUsual = !usual || (value >= toMs(usual.from) && value <= toMs(usual.to));
      if (isUsual) return { kind: "value", value };
      return { kind: "value", value, doubt: `is ${text}, outside ${usual.from} to ${usual.to}: ${usual.because}` };
    },
    print: formatDuration,
  };
}

/** Lengths of time by name, in milliseconds once read. */
export function durations(): Kind<ReadonlyMap<string, number>> {
  const expects = "names with durations, such as alertmanager=5h, generic=15m";
  return {
    expects,
    limits: "`NAME=DURATION`, with commas between them.",
    read(text) {
      const value = new Map<string, number>();
      for (const part of text.split(",")) {
        const [, name = "", length = ""] = /^\s*([\w.-]+)\s*=\s*(\w+)\s*$/.exec(part) ?? [];
        const ms = parseDuration(length);
        if (ms === undefined) return wrong(text, `is not ${expects}`, expects);
        value.set(name, ms);
      }
      return { kind: "value", value };
    },
    print: (value) => [...value].map(([name, ms]) => `${name}=${formatDuration(ms)}`).join(", "),
  };
}

/** Reasons by target, in canonical form, or by namespace as in `payment/*`. */
export function reasons(): Kind<ReadonlyMap<string, string>> {
  const expects = "targets with reasons, such as node/worker-1=hardware test; payment/*=launch week";
  return {
    expects,
    limits: "`TARGET=REASON`, with semicolons between them; `payment/*` is every target in the namespace payment.",
    read(text) {
      const value = new Map<string, string>();
      for (const part of text.split(";").filter((part) => part.trim() !== "")) {
        const [, target = "", reason = ""] = /^\s*([^\s=]+)\s*=\s*(\S.*?)\s*$/.exec(part) ?? [];
        if (target === "" || reason === "") return wrong(text, `is not ${expects}`, expects);
        value.set(target, reason);
      }
      return { kind: "value", value };
    },
    print: (value) => [...value].map(([target, reason]) => `${target}=${reason}`).join("; "),
  };
}

function toMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new TypeError(`the schema has a limit that is not a duration: ${text}`);
  return ms;
}

/** Words out of a short list, with commas between them. */
export function someOf<const T extends string>(...words: readonly T[]): Kind<readonly T[]> {
  const expects = `one or more of ${words.join(", ")}, with commas between them`;
  return {
    expects,
    limits: `One or more of ${words.map((word) => `\`${word}\``).join(", ")}, with commas between them.`,
    read(text) {
      const parts = text.split(",").map((part) => part.trim());
      const stranger = parts.find((part) => !words.includes(part as T));
      if (stranger === undefined) return { kind: "value", value: [...new Set(parts as T[])] };
      return wrong(text, `is not ${expects}`, nearest(stranger, words) ?? expects);
    },
    print: (value) => value.join(", "),
  };
}

/** Words of letters and digits, with commas between them. */
export function words(): Kind<readonly string[]> {
  const expects = "words of letters and digits, with commas between them";
  return {
    expects,
    read(text) {
      const parts = text.split(",").map((part) => part.trim());
      const areWords = parts.every((part) => /^[A-Za-z][A-Za-z0-9]*$/.test(part));
      return areWords ? { kind: "value", value: [...new Set(parts)] } : wrong(text, `is not ${expects}`, expects);
    },
    print: (value) => value.join(", "),
  };
}

/** Yes or no, as YAML writes it. */
export function yesOrNo(): Kind<boolean> {
  const { expects, limits = "", read } = oneOf("true", "false");
  return {
    expects,
    limits,
    read(text) {
      const reading = read(text);
      return reading.kind === "value" ? { ...reading, value: reading.value === "true" } : reading;
    },
    print: String,
  };
}

/** Structures by name, as `sources.<name>.map` writes them; their content is checked by its reader. */
export function structures(expects: string): Kind<ReadonlyMap<string, unknown>> {
  return {
    expects,
    limits: "In the file only; a structure instead of a single value.",
    read: (text) => ({ kind: "value", value: new Map(Object.entries(JSON.parse(text) as object)) }),
    print: (value) => (value.size === 0 ? "none" : [...value.keys()].join(", ")),
  };
}

/** A part of a whole: 0 is nothing, 1 is all of it. */
export function share(): Kind<number> {
  const expects = "a number from 0 to 1, such as 0.1";
  return {
    expects,
    limits: "From 0 to 1.",
    read(text) {
      const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : -1;
      if (value >= 0 && value <= 1) return { kind: "value", value };
      return wrong(text, `is not ${expects}`, expects);
    },
    print: String,
  };
}

/** A folder on this machine. */
export function directory(): Kind<string> {
  return { ...text("the path of a folder"), isPath: true };
}

/** A file on this machine. */
export function file(): Kind<string> {
  return { ...text("the path of a file"), isPath: true };
}

/** Whatever somebody else calls it. */
export function text(expects: string): Kind<string> {
  return {
    expects,
    read(text) {
      if (!text.includes("\0")) return { kind: "value", value: text };
      return wrong(text, `is not ${expects}`, expects);
    },
    print: (value) => value,
  };
}

/** A whole number, one or more. */
export function count({ atMost = Number.MAX_SAFE_INTEGER }: { atMost?: number } = {}): Kind<number> {
  const expects = `a whole number, 1 ${atMost === Number.MAX_SAFE_INTEGER ? "or more" : `to ${atMost}`}`;
  return {
    expects,
    ...(atMost === Number.MAX_SAFE_INTEGER ? {} : { limits: `From 1 to ${atMost}.` }),
    read(text) {
      const value = /^\d+$/.test(text) ? Number(text) : 0;
      if (value >= 1 && value <= atMost) return { kind: "value", value };
      return wrong(text, `is not ${expects}`, `${expects}, in digits alone`);
    },
    print: String,
  };
}

/** The name of a Kubernetes namespace. */
export function namespace(): Kind<string> {
  const expects = "a namespace: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit";
  return {
    expects,
    read(text) {
      if (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text)) return { kind: "value", value: text };
      return wrong(text, "is not the name of a namespace", expects);
    },
    print: (value) => value,
  };
}

/** Where a server listens. */
export function address(): Kind<{ readonly host: string; readonly port: number }> {
  const expects = "an address and a port, such as 127.0.0.1:8080 or [::1]:8080";
  return {
    expects,
    read(text) {
      const [, host = "", digits = ""] = /^(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d{1,5})$/.exec(text) ?? [];
      if (host === "" || Number(digits) > 65_535) return wrong(text, `is not ${expects}`, expects);
      return { kind: "value", value: { host: host.replace(/^\[|\]$/g, ""), port: Number(digits) } };
    },
    print: ({ host, port }) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`),
  };
}

/** What fingerprints are made of. */
export function fingerprintFields(): Kind<readonly string[]> {
  const expects = "one or more of source, name, severity, target and labels.NAME, with commas between them";
  return {
    expects,
    limits: "One or more of `source`, `name`, `severity`, `target` and `labels.NAME`, with commas between them.",
    read(text) {
      const fields = text.split(",").map((field) => field.trim());
      const areKnown = fields.every((field) => /^(source|name|severity|target|labels\.[A-Za-z_][\w./-]*)$/.test(field));
      return areKnown ? { kind: "value", value: [...new Set(fields)] } : wrong(text, `is not ${expects}`, expects);
    },
    print: (value) => value.join(", "),
  };
}

/** Bearer tokens, which are never repeated. */
export function senderTokens(): Kind<Secret> {
  const expects =
    '"NAME TOKEN", or "NAME TOKEN SOURCE,SOURCE", with a semicolon between several; tokens have 16 characters or more';
  return {
    expects,
    limits: "`NAME TOKEN` or `NAME TOKEN SOURCE,SOURCE`, with semicolons between several. Never printed.",
    secret: true,
    read(text) {
      const areSenders = text.split(";").every((line) => /^\s*[\w.-]{1,63}\s+\S{16,}(\s+[\w,-]+)?\s*$/.test(line));
      if (areSenders) return { kind: "value", value: new Secret(text) };
      return { kind: "wrong", wrong: "is not a list of senders (it is not repeated here)", instead: expects };
    },
    print: String,
  };
}

/** A password or the like. */
export function secret(expects: string): Kind<Secret> {
  return {
    expects,
    limits: "Never printed.",
    secret: true,
    read: (text) => ({ kind: "value", value: new Secret(text) }),
    print: String,
  };
}

/** The address of something that is asked over HTTP. */
export function httpUrl(): Kind<string> {
  const expects = "a URL such as https://host/path, without a user or password";
  return {
    expects,
    read(text) {
      const { protocol = "", username, password } = URL.canParse(text) ? new URL(text) : {};
      // It is printed, so nothing secret may be in it.
      const isUrl = ["http:", "https:"].includes(protocol) && !username && !password;
      return isUrl ? { kind: "value", value: text } : wrong(text, `is not ${expects}`, expects);
    },
    print: (value) => value,
  };
}

/** Where Redis is, credentials included, which is why nothing of the text is ever repeated. */
export function redisUrl(): Kind<Secret> {
  const expects =
    "redis://host:6379, redis+sentinel://host:26379,host:26379/name or redis+cluster://host:6379,host:6379, with user:password@ before the hosts and rediss for TLS if need be, and # / ? @ in the password percent-encoded";
  return {
    expects,
    limits:
      "`redis://host:6379`, `redis+sentinel://host:26379,host:26379/name` or `redis+cluster://host:6379,host:6379`; `rediss` for TLS, `user:password@` before the hosts. Never printed.",
    secret: true,
    read(text) {
      if (isRedisUrl(text)) return { kind: "value", value: new Secret(text) };
      return {
        kind: "wrong",
        wrong: "is not a Redis URL (it is not repeated here, as it may hold a password)",
        instead: expects,
      };
    },
    print: String,
  };
}

/** Where PostgreSQL is, credentials included. */
export function postgresUrl(): Kind<Secret> {
  const expects =
    "postgres://user:password@host:5432/database, with ?sslmode=verify-full for TLS and # / ? @ in the password percent-encoded";
  return {
    expects,
    limits: "A `postgres://` or `postgresql://` URL. Never printed.",
    secret: true,
    read(text) {
      if (isServerUrl(text, ["postgres:", "postgresql:"])) return { kind: "value", value: new Secret(text) };
      return {
        kind: "wrong",
        wrong: "is not a PostgreSQL URL (it is not repeated here, as it may hold a password)",
        instead: expects,
      };
    },
    print: String,
  };
}

function isRedisUrl(text: string): boolean {
  const [, scheme, kind, who = "", hosts = "", path = ""] =
    /^(rediss?)\+(sentinel|cluster):\/\/([^@]*@)?([^@/]*)(.*)$/.exec(text) ?? [];
  const protocols = ["redis:", "rediss:"];
  if (!kind) return isServerUrl(text, protocols);
  const isNamed = kind === "sentinel" ? /^\/[^/]+$/.test(path) : path === "";
  return isNamed && hosts.split(",").every((host) => isServerUrl(`${scheme}://${who}${host}${path}`, protocols));
}

function isServerUrl(text: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(text) || /\s/.test(text)) return false;
  const { protocol, hostname, pathname, search, hash } = new URL(text);
  // A bare # / or ? in a password ends the host too early: what follows, and the @, then land in these parts.
  const cutShort = hash !== "" || `${pathname}${search}`.includes("@");
  return protocols.includes(protocol) && hostname !== "" && !cutShort;
}

/** Repeats `text` only if it cannot be a URL or anything else with a password in it, put in the wrong place. */
export function wrong(text: string, what: string, instead: string): ParsedSetting<never> {
  const harmless = /^[\w .,+-]{1,40}$/.test(text);
  return { kind: "wrong", wrong: harmless ? `is "${text}", which ${what}` : what, instead };
}
