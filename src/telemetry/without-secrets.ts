import { findKey, withoutKeys } from "./key-formats.ts";
import { withoutCredentials } from "./without-credentials.ts";

const redacted = "[redacted]";

/**
 * `text` without these secrets, plain or in an encoding that is cheap to recognise, without anything in the format of
 * a key, and without the credentials of URLs. A text that still holds a secret once everything between its letters is
 * removed is withheld.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const form of listForms(secrets)) shown = shown.replaceAll(form, redacted);
  shown = withoutCredentials(withoutKeys(shown));
  return isSpelledOut(shown, secrets) ? "[redacted: this text spelled out a secret]" : shown;
}

/** Describes the secret in `text`, without the secret itself; undefined if there is none. */
export function findSecret(text: string, secrets: readonly string[]): string | undefined {
  const isKnown = listForms(secrets).some((form) => text.includes(form)) || isSpelledOut(text, secrets);
  return isKnown ? "a secret of Interlock or of its coder" : findKey(text);
}

/** Encodings of shorter secrets occur by chance. */
const minEncoded = 8;

const known = new WeakMap<readonly string[], readonly string[]>();

/** Every form in which a secret is looked for, longest first: one may be part of another. */
function listForms(secrets: readonly string[]): readonly string[] {
  const before = known.get(secrets);
  if (before) return before;
  const forms = new Set(secrets.filter((secret) => secret !== "").flatMap((secret) => [secret, ...encodings(secret)]));
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  known.set(secrets, sorted);
  return sorted;
}

function encodings(secret: string): readonly string[] {
  if (secret.length < minEncoded) return [];
  const bytes = Buffer.from(secret);
  const base64 = [0, 1, 2].map((offset) => base64Within(secret, offset));
  const hex = [bytes.toString("hex"), bytes.toString("hex").toUpperCase()];
  return [
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    // Digits alone, and escapes of URLs, of strings and of JSON.
    ...hex.flatMap((digits) =>
      ["", "%", "\\x", "\\u00"].map((prefix) => digits.replace(/../g, (byte) => prefix + byte)),
    ),
    [...bytes].map((byte) => `&#${byte};`).join(""),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    [...secret].reverse().join(""),
  ];
}

/** The base64 digits that depend on the secret alone when `offset` bytes, of a multiple of three, come before it. */
function base64Within(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
  const digits = bytes.toString("base64").replace(/=+$/, "");
  return digits.slice(Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** With blanks, line ends, quotes or anything else between its letters, plain or encoded. */
function isSpelledOut(text: string, secrets: readonly string[]): boolean {
  const forms = listForms(secrets);
  return contains(text, forms, blanks, minEncoded) || contains(text, forms, separators, minSeparated);
}

const blanks = /[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+/g;
const separators = /[^A-Za-z0-9]+/g;
/** Without separators, shorter secrets such as the name of a model are ordinary words. */
const minSeparated = 16;

function contains(text: string, forms: readonly string[], left: RegExp, minLength: number): boolean {
  const compact = text.replace(left, "");
  if (compact === text) return false;
  return forms.some((form) => {
    const letters = form.replace(left, "");
    return letters.length >= minLength && compact.includes(letters);
  });
}
