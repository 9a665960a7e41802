/** Returns every JSON object and array that begins a line of the text and is not inside another, in order. */
export function jsonIn(text: string): readonly unknown[] {
  const found: unknown[] = [];
  // Untrusted text may have any number of opening brackets without an end.
  let budget = 32 * text.length;
  const beginning = /^[ \t]*(?=[{[])/gm;
  for (let match = beginning.exec(text); match && budget > 0; match = beginning.exec(text)) {
    const start = match.index + match[0].length;
    const end = endOf(text, start);
    budget -= (end ?? text.length) - start;
    const value = end === undefined ? undefined : parsed(text.slice(start, end));
    beginning.lastIndex = value === undefined ? start + 1 : (end ?? start + 1);
    if (value !== undefined) found.push(value);
  }
  return found;
}

/** Returns the index after the bracket that closes the one at `start`. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (quoted && character === "\\") index++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return index + 1;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
