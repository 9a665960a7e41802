/**
 * Whether a JSON text is nested more deeply than `maxDepth`, checked without parsing it and mostly at its beginning. Parsing a
 * megabyte of brackets takes a second, and a recursion over the result overflows the stack.
 */
export function isJsonDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at + 1);
      if (at < 0) return false;
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

const [quote, backslash] = [0x22, 0x5c];

/** The index of the quotation mark that ends a JSON string whose content begins at `from`; -1 if there is none. */
export function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (at - escapes > from && text.charCodeAt(at - escapes - 1) === backslash) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return -1;
}
