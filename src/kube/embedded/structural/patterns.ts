const compiled = new Map<string, RegExp>();
const mostKept = 1_000;

/** A pattern of a schema, compiled once. Throws SyntaxError for one that JavaScript cannot read. */
export function compiledPattern(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  const fresh = compile(pattern);
  if (compiled.size >= mostKept) compiled.clear();
  compiled.set(pattern, fresh);
  return fresh;
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    // RE2 allows escapes of ordinary characters, which the strict mode of JavaScript does not.
    return new RegExp(pattern);
  }
}
