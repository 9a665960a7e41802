/** A node of the Atlassian Document Format. */
export interface AdfNode {
  readonly type: string;
  readonly version?: number;
  readonly text?: string;
  readonly content?: readonly AdfNode[];
  readonly attrs?: Readonly<Record<string, unknown>>;
  readonly marks?: readonly { readonly type: string; readonly attrs?: Readonly<Record<string, unknown>> }[];
}

/** A document of plain paragraphs, one for each run of lines. */
export function adfOf(text: string): AdfNode {
  const paragraphs = text.split(/\n{2,}/).filter((paragraph) => paragraph !== "");
  const content = paragraphs.map((paragraph) => ({ type: "paragraph", content: [{ type: "text", text: paragraph }] }));
  return { type: "doc", version: 1, content };
}

/** The words of a document, paragraphs apart. */
export function textOf({ text, content = [], type }: AdfNode): string {
  if (text !== undefined) return text;
  const isInline = type === "paragraph" || type === "heading" || type === "codeBlock";
  return content.map(textOf).join(isInline ? "" : "\n");
}

const inlines = ["text", "hardBreak", "mention", "emoji", "inlineCard", "status", "date"];
const lists = ["bulletList", "orderedList", "taskList"];
const blocks = ["paragraph", "heading", "codeBlock", "blockquote", "panel", "rule", "table", "expand", ...lists];

/** The types of nodes, and the types that each may contain. */
const childrenOf: Readonly<Record<string, readonly string[]>> = {
  doc: blocks,
  paragraph: inlines,
  heading: inlines,
  codeBlock: ["text"],
  blockquote: ["paragraph", "codeBlock", ...lists],
  panel: ["paragraph", "heading", "codeBlock", "rule", ...lists],
  expand: blocks,
  bulletList: ["listItem"],
  orderedList: ["listItem"],
  listItem: ["paragraph", "codeBlock", ...lists],
  taskList: ["taskItem", "taskList"],
  taskItem: inlines,
  table: ["tableRow"],
  tableRow: ["tableCell", "tableHeader"],
  tableCell: blocks,
  tableHeader: blocks,
  rule: [],
  text: [],
  hardBreak: [],
  mention: [],
  emoji: [],
  inlineCard: [],
  status: [],
  date: [],
};

const neverEmpty = ["bulletList", "orderedList", "listItem", "taskList", "table", "tableRow", "blockquote", "panel"];
const markTypes = ["strong", "em", "code", "link", "strike", "underline", "subsup", "textColor", "backgroundColor"];

/** Whether this is a document that Jira takes. */
export function isDocument(value: unknown): boolean {
  return isNode(value, ["doc"]) && (value as AdfNode).version === 1 && Array.isArray((value as AdfNode).content);
}

function isNode(value: unknown, allowed: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { type, content, text, marks = [] } = value as AdfNode;
  const children = childrenOf[type];
  if (!children || !allowed.includes(type)) return false;
  if (type === "text" ? typeof text !== "string" || text === "" : text !== undefined) return false;
  if (content !== undefined && (!Array.isArray(content) || children.length === 0)) return false;
  if (neverEmpty.includes(type) && (content ?? []).length === 0) return false;
  if (!hasItsAttributes(value as AdfNode) || !areMarks(marks, type)) return false;
  if (type === "codeBlock" && content?.some((child) => (child.marks ?? []).length > 0)) return false;
  return (content ?? []).every((child) => isNode(child, children));
}

function hasItsAttributes({ type, attrs = {} }: AdfNode): boolean {
  const { level, id, url, panelType } = attrs;
  if (type === "heading") return Number.isInteger(level) && Number(level) >= 1 && Number(level) <= 6;
  if (type === "mention") return typeof id === "string";
  if (type === "inlineCard") return typeof url === "string";
  if (type === "panel") return ["info", "note", "warning", "error", "success"].includes(String(panelType));
  return true;
}

/** The mark `code` can only be combined with a link. */
function areMarks(marks: NonNullable<AdfNode["marks"]>, type: string): boolean {
  if (!Array.isArray(marks)) return false;
  if (marks.length > 0 && type !== "text") return false;
  const names = marks.map((mark) => mark.type);
  if (names.includes("code") && names.some((name) => name !== "code" && name !== "link")) return false;
  if (new Set(names).size < names.length) return false;
  return marks.every(
    (mark) => markTypes.includes(mark.type) && (mark.type !== "link" || isAddress(mark.attrs?.["href"])),
  );
}

function isAddress(href: unknown): boolean {
  return typeof href === "string" && href !== "";
}
