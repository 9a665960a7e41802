/** An authenticated client and the sources that it may use. */
export interface Sender {
  readonly name: string;
  /** The sources whose signals it may post, its own first; all if undefined. */
  readonly sources: readonly string[] | undefined;
}

/** A sender with its token in plain text. */
export interface SenderLine extends Sender {
  readonly token: string;
}

/** Parses lines `NAME TOKEN` or `NAME TOKEN SOURCE,SOURCE`. `onProblem` gets a sentence, without its content, for each invalid line. */
export function parseSenderLines(text: string, onProblem: (sentence: string) => void): readonly SenderLine[] {
  const lines: SenderLine[] = [];
  for (const [i, line] of text.split(/[\n;]/).entries()) {
    const [name, token, sources, ...more] = line.trim().split(/\s+/);
    if (!name || name.startsWith("#")) continue;
    if (!token || more.length > 0 || token.length < 16 || !/^[\w.-]{1,63}$/.test(name)) {
      onProblem(
        `line ${i + 1} is not "NAME TOKEN" or "NAME TOKEN SOURCE,SOURCE", with a token of 16 characters or more`,
      );
      continue;
    }
    lines.push({ name, token, sources: sources?.split(",") });
  }
  return lines;
}
