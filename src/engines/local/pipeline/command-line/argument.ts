import { findMentions, type Mention, wholeList } from "../variables.ts";

/** One argument of a step's command line, before substitution. */
export interface Argument {
  readonly text: string;
  /** Position in `command` followed by `args`; undefined for an argument that the engine adds. */
  readonly index?: number;
  /** True if nothing is substituted, so the argument is always the same text. */
  readonly isLiteral: boolean;
  /** True for `$(params.x[*])`, which becomes any number of arguments. */
  readonly isList: boolean;
  /** The text before the first substitution. */
  readonly start: string;
  /** The content of the file that the argument names; absent if it is unknown. */
  readonly content?: string;
}

/** Parses one argument. `extra` has its position, or the content of the file that it names. */
export function toArgument(text: string, extra: Pick<Argument, "index" | "content"> = {}): Argument {
  const [first] = findSubstitutions(text);
  const start = first ? text.slice(0, text.indexOf(first.text)) : text;
  return { text, ...extra, isLiteral: first === undefined, isList: wholeList(text) !== undefined, start };
}

/** Finds the variables with values from outside. Paths of results and names of the run are the engine's own. */
export function findSubstitutions(text: string): readonly Mention[] {
  return findMentions(text).filter(({ variable }) => variable?.kind !== "context" && variable?.kind !== "result-path");
}
