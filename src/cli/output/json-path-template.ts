import { jsonPath } from "../../apiserver/index.ts";

/** A template as in `kubectl get -o jsonpath`. Returns the text for an object. */
export type Template = (data: unknown) => string;

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "values"; readonly find: (data: unknown) => unknown[] }
  | { readonly kind: "range"; readonly find: (data: unknown) => unknown[]; readonly body: readonly Part[] };

/**
 * Parses text with `{.path}`, `{"\n"}` and `{range .items[*]}…{end}` in it. A path alone needs no braces. Of JSONPath it
 * accepts what printer columns accept: fields, indexes, `*` and `[?(@.a=="b")]`. Throws SyntaxError for anything else, since
 * a script must not receive the wrong part of an object.
 */
export function parseTemplate(text: string): Template {
  const tokens = tokenize(/^[.$[]/.test(text) && !text.includes("{") ? `{${text}}` : text);
  const parts = parseParts(tokens, false);
  return (data) => render(parts, data);
}

/** A string is literal text; an object is an expression between two braces. */
type Token = string | { readonly expression: string };

const tokenAt = /\{(?<expression>(?:"(?:\\.|[^"\\])*"|'[^']*'|[^{}"'])*)\}|(?<text>[^{}]+)/y;

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (tokenAt.lastIndex = 0; tokenAt.lastIndex < text.length; ) {
    const at = tokenAt.lastIndex;
    const groups = tokenAt.exec(text)?.groups;
    if (!groups) throw new SyntaxError(`unbalanced brace or quote at ${JSON.stringify(text.slice(at))}`);
    tokens.push(groups["text"] ?? { expression: (groups["expression"] ?? "").trim() });
  }
  return tokens;
}

/** Takes tokens from the front, up to the `{end}` of the range that it is in. */
function parseParts(tokens: Token[], isInRange: boolean): readonly Part[] {
  const parts: Part[] = [];
  for (let token = tokens.shift(); token !== undefined; token = tokens.shift()) {
    if (typeof token === "string") {
      parts.push({ kind: "text", text: token });
      continue;
    }
    const { expression } = token;
    if (expression === "end") {
      if (isInRange) return parts;
      throw new SyntaxError("{end} without {range}");
    }
    const [, ranged] = /^range\s+(.*)$/s.exec(expression) ?? [];
    if (ranged !== undefined) parts.push({ kind: "range", find: finder(ranged), body: parseParts(tokens, true) });
    else if (/^["']/.test(expression)) parts.push({ kind: "text", text: literal(expression) });
    else parts.push({ kind: "values", find: finder(expression) });
  }
  if (isInRange) throw new SyntaxError("{range} without {end}");
  return parts;
}

/** `@` and `$` are the object itself. */
function finder(path: string): (data: unknown) => unknown[] {
  if (!/^[@$.[]/.test(path)) throw new SyntaxError(`a path must begin with a period, got ${JSON.stringify(path)}`);
  return jsonPath(path.replace(/^@/, "").replace(/^\.$/, ""));
}

function literal(expression: string): string {
  if (expression.startsWith("'")) return expression.slice(1, -1);
  try {
    return JSON.parse(expression) as string;
  } catch {
    throw new SyntaxError(`${expression} is not a string`);
  }
}

function render(parts: readonly Part[], data: unknown): string {
  return parts.map((part) => renderPart(part, data)).join("");
}

function renderPart(part: Part, data: unknown): string {
  switch (part.kind) {
    case "text":
      return part.text;
    case "values":
      return part.find(data).map(toText).join(" ");
    case "range":
      return part
        .find(data)
        .map((item) => render(part.body, item))
        .join("");
  }
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
