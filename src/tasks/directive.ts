import type { CodingVerb } from "../resources/index.ts";

/** What a comment tells the agent to do. */
export interface Directive {
  readonly verb: CodingVerb;
  /** What follows the name of the agent, as it was written. */
  readonly instruction: string;
}

/**
 * What a comment wants of the agent; undefined: nothing. `/copilot` counts where the comment begins, quotes left aside;
 * `@username` anywhere but in code, quotes, addresses and longer names. What we wrote ourselves wants nothing, whatever
 * it says.
 */
export function parseDirective(body: string, username?: string): Directive | undefined {
  // A mark of ours that a person quotes is not theirs.
  if (ownMark.test(masked(body, quotes))) return undefined;
  const instruction = afterCommand(body) ?? (username ? afterMention(body, username) : undefined);
  if (instruction === undefined) return undefined;
  if (instruction === "") return { verb: "help", instruction };
  // "status of the build is red" is no question for the status: a built-in stands alone.
  const word = /^(review|retry|cancel|status|help)[\s.,:;!?…]*$/i.exec(instruction)?.[1]?.toLowerCase();
  return { verb: (word as CodingVerb | undefined) ?? "do", instruction };
}

const ownMark = /<!--\s*interlock/i;

const quotes = /^[ \t]{0,3}>>>[ \t]*\n[\s\S]*?^[ \t]{0,3}>>>[ \t]*$|^[ \t]*>.*$/gm;
/**
 * Fenced blocks, closed or not, and what is between backticks. Four spaces are code, too, but so is what stands in a list
 * indented, and there people do talk to others.
 */
const code =
  /^[ \t>]*(`{3,}|~{3,})[\s\S]*?(?:^[ \t>]*\1[`~]*[ \t]*$|(?![\s\S]))|(?<!`)(`+)(?!`)(?:(?!\n\s*\n)[\s\S])*?(?<!`)\2(?!`)/gm;
const hidden = /<!--[\s\S]*?(?:-->|(?![\s\S]))/g;

/** What follows `/copilot` at the beginning of the comment, or of what follows its quotes. */
function afterCommand(body: string): string | undefined {
  const start = masked(body, quotes).search(/\S/);
  const [whole, rest] = /^\/copilot(?=[\s,:;.!?]|$)([\s\S]*)$/i.exec(body.slice(Math.max(0, start))) ?? [];
  return whole === undefined ? undefined : trimmed(rest ?? "");
}

/** What follows the first `@username` that is meant for the agent. */
function afterMention(body: string, username: string): string | undefined {
  const name = username.replace(/[^\w]/g, "\\$&");
  // A name goes on with letters, digits, "_", "-", "." between letters, and "/" in a group's path.
  const mention = new RegExp(`(?<![\\w.+@/-])@${name}(?![\\w-]|[./]\\w|@)`, "i");
  const visible = masked(masked(masked(body, code), quotes), hidden);
  const found = mention.exec(visible);
  return found ? trimmed(body.slice(found.index + found[0].length)) : undefined;
}

/** Without the punctuation that belongs to the name. A list that begins on the next line keeps its first mark. */
function trimmed(text: string): string {
  return text.replace(/^[)\]*_"',:;.!?…]*[ \t]*(?:[–—-]+[ \t]+)?/, "").trim();
}

/** The text with blanks for what must not be seen: everything else stays where it was. */
function masked(text: string, unseen: RegExp): string {
  return text.replace(unseen, (part) => part.replace(/[^\n]/g, " "));
}
