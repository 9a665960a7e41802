/**
 * An upper bound of how deeply a YAML text is nested, without parsing it. The parser recurses, and Node.js ends the whole
 * process, threads included, when a regular expression has to be compiled where no stack is left: a text that is too deep
 * must not reach the parser. Brackets in strings count, too; so does every indentation.
 */
export function yamlDepth(text: string): number {
  let max = 0;
  let flow = 0;
  /** Columns at which the open blocks begin. */
  const blocks: number[] = [];
  let isIndented = true;
  let column = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "\n") {
      isIndented = true;
      column = 0;
      continue;
    }
    if (character === "[" || character === "{") max = Math.max(max, blocks.length + ++flow);
    else if ((character === "]" || character === "}") && flow > 0) flow--;
    if (isIndented && character !== " " && character !== "\t") {
      while (blocks.length > 0 && (blocks.at(-1) as number) >= column) blocks.pop();
      blocks.push(column);
      max = Math.max(max, blocks.length + flow);
      // Text after "- ", "? " or ": " on the same line is one level deeper.
      isIndented = "-?:".includes(character as string) && " \t".includes(text[at + 1] ?? "x");
    }
    column++;
  }
  return max;
}

/** Deeper than any manifest or rule; far less than the parser's stack allows. */
export const maxYamlDepth = 200;
