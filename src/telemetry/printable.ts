/**
 * One line of text that cannot control what displays it. Control characters (newlines, tabs, escapes, C1), invisible and
 * direction-changing format characters, line separators and lone surrogates become escapes such as `\n` and `\u001b`.
 *
 * These are escapes of JSON, and backslashes are left alone: a line of JSON stays JSON with the same meaning. Applying it
 * twice changes nothing more.
 */
export function toPrintable(text: string): string {
  return text.replace(unprintable, escapeCharacter);
}

/**
 * `text` without the characters that YAML cannot contain as they are, which become escapes such as `\u009b`. With one of
 * them in any object, `kubectl get -o yaml` prints an error instead of the whole list.
 */
export function toStorable(text: string): string {
  return text.replace(notInYaml, escapeCharacter);
}

/** Control characters below these are escaped in JSON, from which kubectl makes its YAML. */
const notInYaml = /[\x7f-\x84\x86-\x9f\ufffe\uffff]/g;

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escapeCharacter(character: string): string {
  const short = shortEscapes[character];
  if (short) return short;
  // By code unit: JSON writes a character beyond the first 65,536 as two escapes.
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** Cuts a text to `max` UTF-16 units, never within a character, and marks the cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
