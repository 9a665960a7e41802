import { CommandError } from "../command.ts";

/** A command was typed in a way that it does not have. Whoever typed it is shown an example. */
export class MisuseError extends CommandError {}

/** What is wrong with the way in which a command was typed, in our words or made from Node's. Undefined for other errors. */
export function misuseIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, message } = error as NodeJS.ErrnoException;
  // Node names both spellings, as in '-p, --payload <value>'; the long one says what it is.
  const [option] = /--[\w-]+/.exec(message) ?? /-\w/.exec(message) ?? [];
  if (error instanceof MisuseError) return message;
  switch (code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION":
      return `there is no option ${option}`;
    case "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL":
      return `${/'[^']*'/.exec(message)?.[0]} is too much`;
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
      return message.includes("does not take") ? `${option} takes no value` : `${option} wants a value`;
    default:
      return undefined;
  }
}

/** The one word that a command wants; `which` asks for it. */
export function onlyWord(words: readonly string[], which: string): string {
  const [word, ...more] = words;
  if (!word) throw new MisuseError(`say ${which}`);
  if (more.length > 0) throw new MisuseError(`one at a time, please: after ${word} came ${more.join(" ")}`);
  return word;
}

/** The reason that goes on record. */
export function givenReason({ reason }: { readonly reason?: string | undefined }): string {
  const text = reason?.trim();
  if (text) return text;
  throw new MisuseError('--reason "…" is missing: it goes on record');
}
