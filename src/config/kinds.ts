import { nearest, z } from "../schema/index.ts";
import { formatDuration, parseDuration } from "../time/index.ts";
import { type Kind, listKind, notation, secretKind, settingKind, wrong } from "./kind.ts";
import type { Secret } from "./secret.ts";

/** One word out of a short list. */
export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return settingKind({
    expects: `one of ${words.join(", ")}`,
    limits: `One of ${words.map((word) => `\`${word}\``).join(", ")}.`,
    schema: z.enum(words) as unknown as z.ZodType<T>,
    suggest: (text) => nearest(text, words),
  });
}

/** Where locks, claims and watermarks can live. */
export function backend() {
  return oneOf("memory", "redis", "kubernetes");
}

interface DurationLimits {
  /** Shorter is refused. */
  readonly min?: string;
  /** Outside is accepted with a warning that gives the reason. */
  readonly usual?: { readonly from: string; readonly to: string; readonly because: string };
}

/** A length of time, in milliseconds once read. */
export function duration({ min, usual }: DurationLimits = {}): Kind<number> {
  const expects = "a duration such as 500ms, 30s, 1m30s or 1h";
  const limits = [min && `At least ${min}.`, usual && `Outside ${usual.from} to ${usual.to} there is a warning.`];
  return {
    expects,
    limits: limits.filter(Boolean).join(" "),
    read(text) {
      const value = parseDuration(text);
      if (value === undefined && /^\d+$/.test(text)) return wrong(text, "has no unit", `${text}s, or ${expects}`);
      if (value === undefined) return wrong(text, "is not a duration", expects);
      if (min && value < toMs(min)) return wrong(text, `is shorter than ${min}`, `${min} or more`);

      const isUsual = !usual || (value >= toMs(usual.from) && value <= toMs(usual.to));
      if (isUsual) return { kind: "value", value };
      return { kind: "value", value, doubt: `is ${text}, outside ${usual.from} to ${usual.to}: ${usual.because}` };
    },
    print: formatDuration,
  };
}

/** Lengths of time by name, in milliseconds once read. */
export function durations(): Kind<ReadonlyMap<string, number>> {
  return settingKind({
    expects: "names with durations, such as alertmanager=5h, generic=15m",
    limits: "`NAME=DURATION`, with commas between them.",
    schema: notation((text) => {
      const value = new Map<string, number>();
      for (const part of text.split(",")) {
        const [, name = "", length = ""] = /^\s*([\w.-]+)\s*=\s*(\w+)\s*$/.exec(part) ?? [];
        const ms = parseDuration(length);
        if (ms === undefined) return undefined;
        value.set(name, ms);
      }
      return value;
    }),
    print: (value) => [...value].map(([name, ms]) => `${name}=${formatDuration(ms)}`).join(", "),
  });
}

/** Reasons by target, in canonical form, or by namespace as in `payment/*`. */
export function reasons(): Kind<ReadonlyMap<string, string>> {
  return settingKind({
    expects: "targets with reasons, such as node/worker-1=hardware test; payment/*=launch week",
    limits: "`TARGET=REASON`, with semicolons between them; `payment/*` is every target in the namespace payment.",
    schema: notation((text) => {
      const value = new Map<string, string>();
      for (const part of text.split(";").filter((part) => part.trim() !== "")) {
        const [, target = "", reason = ""] = /^\s*([^\s=]+)\s*=\s*(\S.*?)\s*$/.exec(part) ?? [];
        if (target === "" || reason === "") return undefined;
        value.set(target, reason);
      }
      return value;
    }),
    print: (value) => [...value].map(([target, reason]) => `${target}=${reason}`).join("; "),
  });
}

function toMs(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new TypeError(`the schema has a limit that is not a duration: ${text}`);
  return ms;
}

/** Words out of a short list, with commas between them. */
export function someOf<const T extends string>(...words: readonly T[]): Kind<readonly T[]> {
  const isKnown = (word: string) => (words as readonly string[]).includes(word);
  return listKind({
    expects: `one or more of ${words.join(", ")}, with commas between them`,
    limits: `One or more of ${words.map((word) => `\`${word}\``).join(", ")}, with commas between them.`,
    item: z.enum(words) as unknown as z.ZodType<T, string>,
    suggest: (text) =>
      nearest(
        text
          .split(",")
          .map((part) => part.trim())
          .find((part) => !isKnown(part)) ?? "",
        words,
      ),
  });
}

/** Words of letters and digits, with commas between them. */
export function words(): Kind<readonly string[]> {
  return listKind({
    expects: "words of letters and digits, with commas between them",
    item: z.string().regex(/^[A-Za-z][A-Za-z0-9]*$/),
  });
}

/** Yes or no, as YAML writes it. */
export function yesOrNo(): Kind<boolean> {
  const { expects, limits = "" } = oneOf("true", "false");
  return settingKind({
    expects,
    limits,
    schema: z.enum(["true", "false"]).transform((word) => word === "true"),
    suggest: (text) => nearest(text, ["true", "false"]),
  });
}

/** Structures by name, as `sources.<name>.map` writes them; their content is checked by its reader. */
export function structures(expects: string): Kind<ReadonlyMap<string, unknown>> {
  return settingKind({
    expects,
    limits: "In the file only; a structure instead of a single value.",
    schema: notation((text) => new Map<string, unknown>(Object.entries(JSON.parse(text) as object))),
    print: (value) => (value.size === 0 ? "none" : [...value.keys()].join(", ")),
  });
}

/** A part of a whole: 0 is nothing, 1 is all of it. */
export function share(): Kind<number> {
  return settingKind({
    expects: "a number from 0 to 1, such as 0.1",
    limits: "From 0 to 1.",
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number)
      .pipe(z.number().max(1)),
  });
}

/** A folder on this machine. */
export function directory(): Kind<string> {
  return { ...text("the path of a folder"), isPath: true };
}

/** A file on this machine. */
export function file(): Kind<string> {
  return { ...text("the path of a file"), isPath: true };
}

/** A text whose format another program defines. */
export function text(expects: string): Kind<string> {
  return settingKind({ expects, schema: z.string().refine((text) => !text.includes("\0")) });
}

/** A whole number, one or more. */
export function count({ max = Number.MAX_SAFE_INTEGER }: { max?: number } = {}): Kind<number> {
  const expects = `a whole number, 1 ${max === Number.MAX_SAFE_INTEGER ? "or more" : `to ${max}`}`;
  return settingKind({
    expects,
    ...(max === Number.MAX_SAFE_INTEGER ? {} : { limits: `From 1 to ${max}.` }),
    schema: z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(1).max(max)),
    suggest: () => `${expects}, in digits alone`,
  });
}

/** The name of a Kubernetes namespace. */
export function namespace(): Kind<string> {
  return settingKind({
    expects: "a namespace: at most 63 of a-z, 0-9 and -, beginning and ending with a letter or digit",
    wrong: "is not the name of a namespace",
    schema: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
  });
}

/** Where a server listens. */
export function address(): Kind<{ readonly host: string; readonly port: number }> {
  return settingKind({
    expects: "an address and a port, such as 127.0.0.1:8080 or [::1]:8080",
    schema: notation((text) => {
      const [, host = "", digits = ""] = /^(\[[0-9a-fA-F:]+\]|[\w.-]+):(\d{1,5})$/.exec(text) ?? [];
      if (host === "" || Number(digits) > 65_535) return undefined;
      return { host: host.replace(/^\[|\]$/g, ""), port: Number(digits) };
    }),
    print: ({ host, port }) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`),
  });
}

/** The parts of a signal that make up its fingerprint. */
export function fingerprintFields(): Kind<readonly string[]> {
  return listKind({
    expects: "one or more of source, name, severity, target and labels.NAME, with commas between them",
    limits: "One or more of `source`, `name`, `severity`, `target` and `labels.NAME`, with commas between them.",
    item: z.string().regex(/^(source|name|severity|target|labels\.[A-Za-z_][\w./-]*)$/),
  });
}

/** Bearer tokens. */
export function senderTokens(): Kind<Secret> {
  return secretKind(
    {
      expects:
        '"NAME TOKEN", or "NAME TOKEN SOURCE,SOURCE", with a semicolon between several; tokens have 16 characters or more',
      limits: "`NAME TOKEN` or `NAME TOKEN SOURCE,SOURCE`, with semicolons between several. Never printed.",
      wrong: "is not a list of senders (it is not repeated here)",
    },
    (text) => text.split(";").every((line) => /^\s*[\w.-]{1,63}\s+\S{16,}(\s+[\w,-]+)?\s*$/.test(line)),
  );
}

/** A password or the like. */
export function secret(expects: string): Kind<Secret> {
  return secretKind({ expects, limits: "Never printed." });
}
