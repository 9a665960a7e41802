import { CommandError } from "../command.ts";

/** Wrong arguments. The operator is shown an example. */
export class MisuseError extends CommandError {}

/** The problem with the arguments; undefined for other errors. */
export function misuseIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, message } = error as NodeJS.ErrnoException;
  // Node names both spellings, as in '-p, --payload <value>'; the long one says what it is.
  const [option] = /--[\w-]+/.exec(message) ?? /-\w/.exec(message) ?? [];
  if (error instanceof MisuseError) return message;
  switch (code) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION":
      return `unknown option ${option}`;
    case "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL":
      return `unexpected argument "${/'([^']*)'/.exec(message)?.[1]}"`;
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
      return message.includes("does not take") ? `${option} takes no value` : `${option} needs a value`;
    default:
      return undefined;
  }
}

/** The only argument of a command; `expected` describes it. */
export function onlyWord(words: readonly string[], expected: string): string {
  const [word, ...more] = words;
  if (!word) throw new MisuseError(`missing argument: ${expected}`);
  if (more.length > 0) throw new MisuseError(`unexpected argument "${more.join(" ")}"`);
  return word;
}

/** The reason, which is recorded in the ledger. */
export function givenReason({ reason }: { readonly reason?: string | undefined }): string {
  const text = reason?.trim();
  if (text) return text;
  throw new MisuseError('--reason "…" is missing; it is recorded in the ledger');
}
