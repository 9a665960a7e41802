import { withoutSecrets } from "../../telemetry/index.ts";

/**
 * What the agent wrote, as it may be shown to people and posted in our name: without secrets, without characters that
 * hide or reorder others, and with nothing in it that means something to GitLab or to us rather than to people.
 */
export function cleanText(text: string, maxLength: number, secrets: readonly string[]): string {
  const shown = withoutSecrets(plain(text), secrets)
    // Our own marks are HTML comments.
    .replaceAll("<!--", "&lt;!--")
    // A line that begins so is a command to GitLab, with our rights: /merge, /approve.
    .replace(/^\/(?=[A-Za-z])/gm, " /");
  return shorten(shown.trim(), maxLength);
}

/** The end of what the agent wrote. Secrets are taken out first: a cut could leave half of one. */
export function cleanEnd(text: string, maxLength: number, secrets: readonly string[]): string {
  return cleanText(withoutSecrets(plain(text), secrets).slice(-4 * maxLength), maxLength, secrets);
}

/** A commit message. Trailers with our name are ours to write: by them we recognise what we pushed. */
export function cleanCommitMessage(text: string, maxLength: number, secrets: readonly string[]): string {
  const lines = plain(text)
    .split("\n")
    .filter((line) => !/^\s*Interlock-[\w-]*\s*:/i.test(line));
  return shorten(withoutSecrets(lines.join("\n"), secrets).trim(), maxLength);
}

/** Lines that should replace others: taken as they are, or not at all. */
export function cleanSuggestion(text: string, maxLength: number, secrets: readonly string[]): string | undefined {
  const shown = plain(text);
  // It is posted between fences, and must not end them.
  const isSafe = shown.length <= maxLength && !shown.includes("```") && withoutSecrets(shown, secrets) === shown;
  return isSafe ? shown : undefined;
}

/** Without control characters, and without those that change the direction of what follows. */
function plain(text: string): string {
  return wellFormed(text).replace(/\r\n?/g, "\n").replace(hidden, "");
}

const hidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Half of a character, which a cut may leave, cannot be sent anywhere. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}

function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${wellFormed(text.slice(0, maxLength - 1))}…`;
}
