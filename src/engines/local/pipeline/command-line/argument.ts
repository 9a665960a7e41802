import { findMentions, type Mention, wholeList } from "../variables.ts";

/** One argument of a step's command line, as it is written in the pipeline. */
export interface Argument {
  readonly text: string;
  /** Position in `command` followed by `args`; undefined for an argument that the engine adds. */
  readonly index?: number;
  /** True if no value from outside is substituted, so the argument is always the same text. */
  readonly isLiteral: boolean;
  /** True if the argument becomes any number of arguments: `$(params.x[*])`. */
  readonly isList: boolean;
  /** The text before the first substitution. */
  readonly start: string;
  /** The content of the file that the argument names, where it is known. */
  readonly content?: string;
}

/** Reads one argument. `extra` sets its position, or the content of the file that it names. */
export function toArgument(text: string, extra: Pick<Argument, "index" | "content"> = {}): Argument {
  const [first] = findSubstitutions(text);
  const start = first ? text.slice(0, text.indexOf(first.text)) : text;
  return { text, ...extra, isLiteral: first === undefined, isList: wholeList(text) !== undefined, start };
}

/** The variables whose values the engine did not make itself: paths of results and names of the run are its own. */
export function findSubstitutions(text: string): readonly Mention[] {
  return findMentions(text).filter(({ variable }) => variable?.kind !== "context" && variable?.kind !== "result-path");
}
