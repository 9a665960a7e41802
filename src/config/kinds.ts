import { formatDuration, parseDuration } from "../time/index.ts";
import { nearest } from "./nearest.ts";
import { Secret } from "./secret.ts";

/** How the values of a setting are written, checked and printed. */
export interface Kind<T> {
  /** What to write, to complete "Write …". */
  readonly expects: string;
  /** For the documentation: which values are accepted, where the meaning alone does not say. */
  readonly limits?: string;
  /** True: neither the value nor any text near it may be printed. */
  readonly secret?: true;
  read(text: string): Reading<T>;
  print(value: T): string;
}

/** `wrong` follows the name of the setting; `doubt` is accepted, but somebody should know. */
export type Reading<T> =
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

function toMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new TypeError(`the schema has a limit that is not a duration: ${text}`);
  return ms;
}

/** A whole number, one or more. */
export function count(): Kind<number> {
  const expects = "a whole number, 1 or more";
  return {
    expects,
    read(text) {
      const value = /^\d+$/.test(text) ? Number(text) : 0;
      if (value >= 1 && Number.isSafeInteger(value)) return { kind: "value", value };
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

/** Where Redis is, credentials included, which is why nothing of the text is ever repeated. */
export function redisUrl(): Kind<Secret> {
  const expects =
    "redis://host:6379, or rediss://user:password@host:6379 for TLS, with # / ? @ in the password percent-encoded";
  return {
    expects,
    limits: "A `redis://` or `rediss://` URL. Never printed.",
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

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text) || /\s/.test(text)) return false;
  const { protocol, hostname, pathname, search, hash } = new URL(text);
  // A bare # / or ? in a password ends the host too early: what follows, and the @, then land in these parts.
  const cutShort = hash !== "" || `${pathname}${search}`.includes("@");
  return (protocol === "redis:" || protocol === "rediss:") && hostname !== "" && !cutShort;
}

/** Repeats `text` only if it cannot be a URL or anything else with a password in it, put in the wrong place. */
function wrong(text: string, what: string, instead: string): Reading<never> {
  const harmless = /^[\w .,+-]{1,40}$/.test(text);
  return { kind: "wrong", wrong: harmless ? `is "${text}", which ${what}` : what, instead };
}
