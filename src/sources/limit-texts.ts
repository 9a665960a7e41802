import { hash } from "node:crypto";
import { cutText, toStorable } from "../telemetry/index.ts";

type Texts = Readonly<Record<string, string>>;

/** In characters: of one value, and of all names and values of a signal's labels, or of its annotations. */
export const maxTextLength = 2_048;
export const maxTextsLength = 8_192;

/**
 * Limits labels or annotations to a size that is kept in memory and matched. A value that is too long is cut, and a note
 * with its hash is added, so that different long values stay different. Entries beyond the total are left out, and one more entry
 * has their number. A signal is never refused for its size. Characters that some stores reject become escapes.
 */
export function limitTexts(texts: Texts): Texts {
  let total = 0;
  let isStorable = true;
  for (const name in texts) {
    const text = texts[name] as string;
    total += name.length + text.length;
    isStorable &&= toStorable(name) === name && toStorable(text) === text;
  }
  if (total <= maxTextLength && isStorable) return texts;

  const limited: Record<string, string> = {};
  let left = maxTextsLength;
  let omitted = 0;
  for (const [given, text] of Object.entries(texts)) {
    const name = toStorable(given);
    const value = toStorable(limitText(text));
    if (name.length + value.length > left) {
      omitted++;
      continue;
    }
    left -= name.length + value.length;
    Object.defineProperty(limited, name, { value, enumerable: true, configurable: true, writable: true });
  }
  if (omitted > 0)
    limited["interlock_truncated"] = `${omitted} more left out: they exceed ${maxTextsLength} characters`;
  return limited;
}

function limitText(text: string): string {
  if (text.length <= maxTextLength) return text;
  const note = ` (truncated from ${text.length} characters, sha256 ${hash("sha256", text).slice(0, 16)})`;
  return cutText(text, maxTextLength - note.length) + note;
}
