import type { Mutation } from "../services/bundle.ts";

/** One plausible mistake in the source, and the narrowest test file that has to notice it. */
export interface Mutant extends Mutation {
  /** The source file, from the root of the project. */
  readonly file: string;
  /** The test file, from the root of the project. */
  readonly suite: string;
  /** What the program does wrong with this mistake. */
  readonly mistake: string;
}

/** Mistakes in one source file. Each is a description, the text to replace, which occurs once, and its replacement. */
export function mutantsOf(
  { file, suite }: Pick<Mutant, "file" | "suite">,
  mistakes: readonly (readonly [mistake: string, from: string, to: string])[],
): readonly Mutant[] {
  return mistakes.map(([mistake, from, to]) => ({ file, suite, mistake, from, to }));
}
