import { z } from "../schema/index.ts";
import { Secret } from "./secret.ts";

/** How the values of a setting are written, checked and printed. */
export interface Kind<T> {
  /** What to write, to complete "Write …". */
  readonly expects: string;
  /** For the documentation: which values are accepted, where the meaning does not show it. */
  readonly limits?: string;
  /** True: the value, and any text near it in a file, must not be printed. */
  readonly secret?: true;
  /** True: a path on this machine; in a settings file it is relative to that file. */
  readonly isPath?: true;
  /** True: a structure in the file, not a single value; its text is JSON. */
  readonly isStructure?: true;
  read(text: string): ParsedSetting<T>;
  print(value: T): string;
}

/** `wrong` follows the name of the setting; a value with a `doubt` is accepted with a warning. */
export type ParsedSetting<T> =
  | { readonly kind: "value"; readonly value: T; readonly doubt?: string }
  | { readonly kind: "wrong"; readonly wrong: string; readonly instead: string };

interface KindDraft<T> extends Omit<Kind<T>, "read" | "print"> {
  /** Checks and converts the text. */
  readonly schema: z.ZodType<T>;
  /** The problem of a text that does not fit; `is not` and `expects` unless given. */
  readonly wrong?: string;
  /** A better suggestion than `expects` for a text that does not fit. */
  readonly suggest?: (text: string) => string | undefined;
  readonly print?: (value: T) => string;
}

/** A kind whose text a schema checks and converts. */
export function settingKind<T>({ schema, suggest, print = String, ...draft }: KindDraft<T>): Kind<T> {
  const { expects, wrong: problem = `is not ${expects}`, ...kind } = draft;
  return {
    ...kind,
    expects,
    print,
    read(text) {
      const parsed = schema.safeParse(text);
      if (parsed.success) return { kind: "value", value: parsed.data };
      const instead = suggest?.(text) ?? expects;
      return kind.secret ? { kind: "wrong", wrong: problem, instead } : wrong(text, problem, instead);
    },
  };
}

/** Values with commas between them, each once. */
export function listKind<T>({
  item,
  ...kind
}: Omit<KindDraft<T>, "schema" | "print"> & { item: z.ZodType<T, string> }) {
  const schema = z
    .string()
    .transform((text) => text.split(",").map((part) => part.trim()))
    .pipe(z.array(item))
    .transform((values): readonly T[] => [...new Set(values)]);
  return settingKind({ ...kind, schema, print: (values) => values.join(", ") });
}

/** A text in a notation of its own; `convert` returns undefined for any other text. */
export function notation<T>(convert: (text: string) => T | undefined): z.ZodType<T> {
  return z.string().transform((text, context) => {
    const value = convert(text);
    if (value === undefined) context.addIssue("does not fit");
    return value as T;
  });
}

/** A text of which nothing is ever printed. */
export function secretKind(
  kind: Omit<KindDraft<Secret>, "schema" | "secret">,
  isValid = (_: string) => true,
): Kind<Secret> {
  const schema = z
    .string()
    .refine(isValid)
    .transform((text) => new Secret(text));
  return settingKind({ ...kind, secret: true, schema });
}

/** Repeats `text` only if it cannot be a URL or another text with a password in it, put in the wrong place. */
export function wrong(text: string, what: string, instead: string): ParsedSetting<never> {
  const harmless = /^[\w .,+-]{1,40}$/.test(text);
  return { kind: "wrong", wrong: harmless ? `is "${text}", which ${what}` : what, instead };
}
