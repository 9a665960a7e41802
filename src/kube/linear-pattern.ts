import { RE2JS } from "re2js";

/**
 * A regular expression that takes time in proportion to the text, whatever the expression and the text are. For every
 * expression that is not in our own source: those of rules, schemas and settings are applied to untrusted texts.
 */
export interface LinearPattern {
  /** Whether the expression matches somewhere in `text`. */
  test(text: string): boolean;
  /** Returns the first group of the first match in `text`, or the whole match of an expression without groups. */
  capture(text: string): string | undefined;
}

/** Compiles RE2 syntax (as Go and Kubernetes read it). Throws SyntaxError for anything else, such as `(?=…)`. */
export function linearPattern(expression: string, { ignoreCase = false } = {}): LinearPattern {
  const key = `${ignoreCase ? "i" : ""}/${expression}`;
  const known = compiled.get(key);
  if (known) return known;
  const pattern = compile(expression, ignoreCase);
  if (compiled.size >= maxCompiled) compiled.clear();
  compiled.set(key, pattern);
  return pattern;
}

/** A cache of compiled expressions, because compiling costs a hundred times more than matching. */
const compiled = new Map<string, LinearPattern>();
const maxCompiled = 1_000;

function compile(expression: string, ignoreCase: boolean): LinearPattern {
  if (expression.length > maxLength) throw new SyntaxError(`the expression is longer than ${maxLength} characters`);
  try {
    const pattern = RE2JS.compile(expression, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return {
      test: (text) => pattern.test(text),
      capture(text) {
        const matcher = pattern.matcher(text);
        if (!matcher.find()) return undefined;
        return matcher.group(pattern.groupCount() > 0 ? 1 : 0) ?? undefined;
      },
    };
  } catch (error) {
    throw new SyntaxError((error as Error).message, { cause: error });
  }
}

const maxLength = 4_096;
