import { withoutSecrets } from "../../telemetry/index.ts";
import { withoutMarks } from "../markers.ts";
import { hasQuickAction } from "../note-text.ts";

/**
 * Text of the coder that may be shown to people: without secrets, without hidden characters, and without our own marks.
 * `toNoteText` makes it inert on GitLab.
 */
export function cleanText(text: string, maxLength: number, secrets: readonly string[]): string {
  return shorten(withoutMarks(withoutSecrets(removeHidden(text), secrets)).trim(), maxLength);
}

/** The end of the coder's output. Secrets are removed first: a cut could leave half of one. */
export function cleanEnd(text: string, maxLength: number, secrets: readonly string[]): string {
  return cleanText(withoutSecrets(removeHidden(text), secrets).slice(-4 * maxLength), maxLength, secrets);
}

/** A commit message. Trailers with our name are removed: by them we recognise our own commits. */
export function cleanCommitMessage(text: string, maxLength: number, secrets: readonly string[]): string {
  const lines = removeHidden(text)
    .split("\n")
    .filter((line) => !/^\s*Interlock-[\w-]*\s*:/i.test(line));
  return shorten(withoutSecrets(lines.join("\n"), secrets).trim(), maxLength);
}

/** Lines that replace others: returned unchanged, or not at all, if they may end their code block or are quick actions. */
export function cleanSuggestion(text: string, maxLength: number, secrets: readonly string[]): string | undefined {
  const shown = removeHidden(text);
  if (shown.length > maxLength || shown.includes("```") || hasQuickAction(shown)) return undefined;
  return withoutSecrets(shown, secrets) === shown ? shown : undefined;
}

/** Removes control characters, and characters that change the direction of the text. */
function removeHidden(text: string): string {
  return replaceHalfCharacters(text).replace(/\r\n?/g, "\n").replace(hidden, "");
}

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** A cut may leave half of a character, which no server accepts. */
function replaceHalfCharacters(text: string): string {
  return Buffer.from(text).toString();
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${replaceHalfCharacters(text.slice(0, maxLength - 1))}…`;
}
