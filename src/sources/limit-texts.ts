import { createHash } from "node:crypto";
import { cutText, toStorable } from "../telemetry/index.ts";

type Texts = Readonly<Record<string, string>>;

/** Of one value, and of all values and names of one signal's labels, or of its annotations. In characters. */
export const maxTextLength = 2_048;
export const maxTextsLength = 8_192;

/**
 * Labels or annotations that are small enough to be kept in memory and matched. A value that is too long is cut and ends
 * with a note; entries beyond the total are left out, and one more entry has their number. Nothing is refused for its size:
 * the alert is what matters. Characters that cannot be stored everywhere become escapes. The note has a hash, so that two
 * different long values stay different.
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
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const note = ` (truncated from ${text.length} characters, sha256 ${hash})`;
  return cutText(text, maxTextLength - note.length) + note;
}
