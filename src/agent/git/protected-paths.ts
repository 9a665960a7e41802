import { type LinearPattern, linearPattern } from "../../kube/index.ts";

/**
 * Returns whether a path matches one of the patterns, which are written as in a `.gitignore`: the last match decides,
 * `!` excludes a path again, and everything below a protected folder stays protected. Case is ignored, because some
 * file systems ignore it.
 */
export function protectedPathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const rules = patterns.map(parseRule).filter((rule) => rule !== undefined);
  return (path) => {
    const parts = path.split("/");
    return parts.some((_, i) => isMatched(parts.slice(0, i + 1).join("/"), i + 1 < parts.length, rules));
  };
}

interface PathRule {
  readonly matches: LinearPattern;
  readonly foldersOnly: boolean;
  readonly protects: boolean;
}

function isMatched(path: string, isFolder: boolean, rules: readonly PathRule[]): boolean {
  const last = rules.findLast((rule) => (isFolder || !rule.foldersOnly) && rule.matches.test(path));
  return last?.protects ?? false;
}

function parseRule(line: string): PathRule | undefined {
  const text = line.replace(/(?<!\\) +$/, "");
  if (text === "" || text.startsWith("#")) return undefined;
  const protects = !text.startsWith("!");
  const pattern = protects ? text : text.slice(1);
  const foldersOnly = pattern.endsWith("/");
  const body = foldersOnly ? pattern.slice(0, -1) : pattern;
  // A pattern with a slash before its last character starts at the root.
  const anchored = body.includes("/") ? body.replace(/^\//, "") : `**/${body}`;
  return { matches: linearPattern(`^${toExpression(anchored)}$`, { ignoreCase: true }), foldersOnly, protects };
}

const pieces = /\*\*\/|\/\*\*$|\*+|\?|\[!?\]?(?:\\.|[^\]\\/])*\]|\\.|./gsu;

function toExpression(pattern: string): string {
  return (pattern.match(pieces) ?? []).map(toPiece).join("");
}

function toPiece(piece: string): string {
  if (piece === "**/") return "(?:[^/]+/)*";
  if (piece === "/**") return "/.+";
  if (piece.startsWith("*")) return "[^/]*";
  if (piece === "?") return "[^/]";
  if (piece.startsWith("[") && piece.length > 2) return toClass(piece);
  return escapeText(piece.length === 2 && piece.startsWith("\\") ? piece.slice(1) : piece);
}

/** A set of characters; an invalid one stands for itself. */
function toClass(piece: string): string {
  const negated = /^\[[!^]/.test(piece);
  const inner = piece.slice(negated ? 2 : 1, -1).replace(/\\(.)/g, "$1");
  const set = `[${negated ? "^/" : ""}${inner.replace(/[\\\][^]/g, "\\$&")}]`;
  try {
    linearPattern(set);
    return set;
  } catch {
    return escapeText(piece);
  }
}

function escapeText(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
