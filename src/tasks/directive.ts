import type { CodingVerb } from "../resources/index.ts";
import { toStorable } from "../telemetry/index.ts";

/** The command of a comment to the agent. */
export interface Directive {
  readonly verb: CodingVerb;
  /** The text after the name of the agent. */
  readonly instruction: string;
}

/**
 * Returns the command of a comment; undefined if it has none. `/copilot` counts at the beginning of the comment, quotes
 * ignored; `@username` counts anywhere except in code, quotes, addresses and longer names, in the first 65,536
 * characters. Our own comments contain no command.
 */
export function parseDirective(body: string, username?: string): Directive | undefined {
  // A user may quote one of our comments, so marks in quotes do not count.
  if (ownMark.test(maskText(body, quotes))) return undefined;
  const beginning = body.slice(0, maxReadLength);
  const text = afterCommand(beginning) ?? (username ? afterMention(beginning, username) : undefined);
  if (text === undefined) return undefined;
  const instruction = toStorable(text);
  if (instruction === "") return { verb: "help", instruction };
  // "status of the build is red" is an instruction: a built-in command has no further words.
  const word = /^(review|retry|cancel|status|help)[\s.,:;!?…]*$/i.exec(instruction)?.[1]?.toLowerCase();
  return { verb: (word as CodingVerb | undefined) ?? "do", instruction };
}

/** The time to find code in a comment grows with the square of its length: a million characters took more than a second. */
const maxReadLength = 65_536;

const ownMark = /<!--\s*interlock/i;

const quotes = /^[ \t]{0,3}>>>[ \t]*\n[\s\S]*?^[ \t]{0,3}>>>[ \t]*$|^[ \t]*>.*$/gm;
/**
 * Fenced blocks, closed or not, and text between backticks. Four spaces are code, too, but also the indentation of
 * lists, in which people do address the agent.
 */
const code =
  /^[ \t>]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t>]*\1[`~]*[ \t]*$|(?![\s\S]))|(?<!`)(`+)(?!`)(?:(?!\n\s*\n)[\s\S])*?(?<!`)\2(?!`)/gm;
const hidden = /<!--[\s\S]*?(?:-->|(?![\s\S]))/g;

/** Returns the text after `/copilot` at the beginning of the comment, or after its quotes. */
function afterCommand(body: string): string | undefined {
  const start = maskText(body, quotes).search(/\S/);
  const [whole, rest] = /^\/copilot(?=[\s,:;.!?]|$)([\s\S]*)$/i.exec(body.slice(Math.max(0, start))) ?? [];
  return whole === undefined ? undefined : trimPunctuation(rest ?? "");
}

/** Returns the text after the first `@username` that addresses the agent. */
function afterMention(body: string, username: string): string | undefined {
  const name = username.replace(/[^\w]/g, "\\$&");
  // A name continues with letters, digits, "_", "-", "." between letters, and "/" in a group's path.
  const mention = new RegExp(`(?<![\\w.+@/-])@${name}(?![\\w-]|[./]\\w|@)`, "i");
  const visible = maskText(maskText(maskText(body, code), quotes), hidden);
  const found = mention.exec(visible);
  return found ? trimPunctuation(body.slice(found.index + found[0].length)) : undefined;
}

/** Removes the punctuation after the name. A list that begins on the next line keeps its first mark. */
function trimPunctuation(text: string): string {
  return text.replace(/^[)\]*_"',:;.!?…]*[ \t]*(?:[–—-]+[ \t]+)?/, "").trim();
}

/** Replaces parts of the text by blanks of the same length. */
function maskText(text: string, parts: RegExp): string {
  return text.replace(parts, (part) => part.replace(/[^\n]/g, " "));
}
