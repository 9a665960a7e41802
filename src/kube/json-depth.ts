/**
 * Whether a JSON text is nested more deeply than `maxDepth`, checked without parsing it and mostly at its beginning. Parsing a
 * megabyte of brackets takes a second, and a recursion over the result overflows the stack.
 */
export function isJsonDeeper(text: string, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else inString = code !== 0x22;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
