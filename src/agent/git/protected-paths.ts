import { type LinearPattern, linearPattern } from "../../kube/index.ts";

/**
 * Returns whether a path matches one of the patterns, which are written as in a `.gitignore`: the last match decides,
 * `!` excludes a path again, and everything below a protected folder stays protected. Case is ignored, because some
 * file systems ignore it.
 */
export function protectedBy(patterns: readonly string[]): (path: string) => boolean {
  const rules = patterns.map(ruleOf).filter((rule) => rule !== undefined);
  return (path) => {
    const parts = path.split("/");
    return parts.some((_, i) => decision(parts.slice(0, i + 1).join("/"), i + 1 < parts.length, rules));
  };
}

interface PathRule {
  readonly matches: LinearPattern;
  readonly foldersOnly: boolean;
  readonly protects: boolean;
}

function decision(path: string, isFolder: boolean, rules: readonly PathRule[]): boolean {
  const last = rules.findLast((rule) => (isFolder || !rule.foldersOnly) && rule.matches.test(path));
  return last?.protects ?? false;
}

function ruleOf(line: string): PathRule | undefined {
  const text = line.replace(/(?<!\\) +$/, "");
  if (text === "" || text.startsWith("#")) return undefined;
  const protects = !text.startsWith("!");
  const pattern = protects ? text : text.slice(1);
  const foldersOnly = pattern.endsWith("/");
  const body = foldersOnly ? pattern.slice(0, -1) : pattern;
  // A pattern with a slash before its last character starts at the root.
  const anchored = body.includes("/") ? body.replace(/^\//, "") : `**/${body}`;
  return { matches: linearPattern(`^${expressionOf(anchored)}$`, { ignoreCase: true }), foldersOnly, protects };
}

const pieces = /\*\*\/|\/\*\*$|\*+|\?|\[!?\]?(?:\\.|[^\]\\/])*\]|\\.|./gsu;

function expressionOf(pattern: string): string {
  return (pattern.match(pieces) ?? []).map(pieceOf).join("");
}

function pieceOf(piece: string): string {
  if (piece === "**/") return "(?:[^/]+/)*";
  if (piece === "/**") return "/.+";
  if (piece.startsWith("*")) return "[^/]*";
  if (piece === "?") return "[^/]";
  if (piece.startsWith("[") && piece.length > 2) return classOf(piece);
  return escaped(piece.length === 2 && piece.startsWith("\\") ? piece.slice(1) : piece);
}

/** A set of characters; an invalid one stands for itself. */
function classOf(piece: string): string {
  const negated = /^\[[!^]/.test(piece);
  const inner = piece.slice(negated ? 2 : 1, -1).replace(/\\(.)/g, "$1");
  const set = `[${negated ? "^/" : ""}${inner.replace(/[\\\][^]/g, "\\$&")}]`;
  try {
    linearPattern(set);
    return set;
  } catch {
    return escaped(piece);
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
