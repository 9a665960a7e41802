/** A node of Jira's document format. It comes from outside, so no field is reliable. */
export interface AdfNode {
  readonly type: string;
  readonly text?: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
  readonly content?: readonly AdfNode[];
  readonly marks?: readonly AdfMark[];
}

export interface AdfMark {
  readonly type: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
}

/** The maximum depth; deeper nodes are omitted. No document of a person is nested as deep. */
export const maxDepth = 60;

/** Returns the children of any value. */
export function childrenOf(node: unknown): readonly unknown[] {
  const content = isRecord(node) ? node["content"] : undefined;
  return Array.isArray(content) ? content : [];
}

export function typeOf(node: unknown): string {
  return isRecord(node) && typeof node["type"] === "string" ? node["type"] : "";
}

export function attributeOf(node: unknown, name: string): string | number | undefined {
  const attrs = isRecord(node) ? node["attrs"] : undefined;
  const value = isRecord(attrs) ? attrs[name] : undefined;
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value)) ? value : undefined;
}

/** Returns the text of an inline node, without its marks; undefined for other nodes. */
export function inlineText(node: unknown): string | undefined {
  switch (typeOf(node)) {
    case "text":
      return isRecord(node) && typeof node["text"] === "string" ? node["text"] : "";
    case "hardBreak":
      return "\n";
    case "mention":
      return `@${String(attributeOf(node, "text") ?? attributeOf(node, "id") ?? "unknown").replace(/^@/, "")}`;
    case "emoji":
      return String(attributeOf(node, "text") ?? attributeOf(node, "shortName") ?? "");
    case "status":
      return `[${attributeOf(node, "text") ?? ""}]`;
    case "date":
      return formatDate(attributeOf(node, "timestamp"));
    case "inlineCard":
    case "blockCard":
    case "embedCard":
      return String(attributeOf(node, "url") ?? "");
    case "media":
    case "mediaInline":
      return `[attachment: ${attributeOf(node, "alt") || attributeOf(node, "id") || "file"}]`;
    default:
      return undefined;
  }
}

/** Returns the text of a document: a line per block, without marks. */
export function plainText(document: unknown): string {
  const lines: string[] = [""];
  walk(document, 0);
  return lines.join("\n").trim();

  function walk(node: unknown, depth: number): void {
    const text = inlineText(node);
    if (text !== undefined) {
      lines.push((lines.pop() ?? "") + text);
      return;
    }
    if (depth > maxDepth) return;
    for (const child of childrenOf(node)) walk(child, depth + 1);
    if (lines.at(-1) !== "") lines.push("");
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function formatDate(timestamp: string | number | undefined): string {
  const at = new Date(Number(timestamp));
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(0, 10);
}
