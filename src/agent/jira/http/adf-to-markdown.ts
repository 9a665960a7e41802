import { longestBacktickRun } from "../../note-text.ts";
import { type ParsedNode, parseNode } from "./adf.ts";

/**
 * Converts Jira's document format to Markdown, for people and the coder. Text stays as it was written: nothing is
 * escaped. Accepts any input and never throws; unknown nodes are read for their text.
 */
export function adfToMarkdown(document: unknown): string {
  if (typeof document === "string") return document;
  return blocks(parseNode(document).content).trim();
}

function blocks(nodes: readonly ParsedNode[]): string {
  const parts: string[] = [];
  let line: ParsedNode[] = [];
  const endLine = () => {
    if (line.length > 0) parts.push(inlines(line));
    line = [];
  };
  for (const node of nodes) {
    if (inlineText(node) !== undefined && node.type !== "blockCard") {
      line.push(node);
    } else {
      endLine();
      parts.push(block(node));
    }
  }
  endLine();
  return parts.filter((part) => part.trim() !== "").join("\n\n");
}

function block(node: ParsedNode): string {
  const { type, attrs, content } = node;
  switch (type) {
    case "paragraph":
      return inlines(content);
    case "heading":
      return `${"#".repeat(headingLevel(attrs["level"]))} ${inlines(content).replaceAll("\n", " ")}`;
    case "bulletList":
    case "taskList":
    case "decisionList":
      return list(content, () => "- ");
    case "orderedList":
      return list(content, (i) => `${Math.floor(Number(attrs["order"] ?? 1)) + i}. `);
    case "codeBlock":
      return code(content.map((child) => inlineText(child) ?? blocks(child.content)).join(""), attrs["language"] ?? "");
    case "blockquote":
      return quote(blocks(content));
    case "panel":
      return quote(`**${panelName(attrs["panelType"])}**\n\n${blocks(content)}`);
    case "expand":
    case "nestedExpand":
      return [attrs["title"] && `**${attrs["title"]}**`, blocks(content)].filter(Boolean).join("\n\n");
    case "table":
      return table(content);
    case "rule":
      return "---";
    default:
      return inlineText(node) ?? blocks(content);
  }
}

function headingLevel(level: string | undefined): number {
  const number = Number(level);
  return number >= 1 && number <= 6 ? Math.floor(number) : 1;
}

function panelName(type = "note"): string {
  return type.charAt(0).toUpperCase() + type.slice(1);
}

function list(items: readonly ParsedNode[], bullet: (i: number) => string): string {
  return items.map((item, i) => listItem(item, bullet(i))).join("\n");
}

function listItem(item: ParsedNode, bullet: string): string {
  // A list directly within a list belongs to the preceding item.
  const isList = item.type.endsWith("List");
  const box = item.type === "taskItem" ? `[${item.attrs["state"] === "DONE" ? "x" : " "}] ` : "";
  const children = childrenOf(item, ["listItem", "taskItem", "decisionItem"]);
  const content = isList ? block(item) : blocks(children).replaceAll("\n\n- ", "\n- ");
  const indent = " ".repeat(bullet.length);
  const lines = `${box}${content}`.split("\n");
  return lines.map((line, i) => (i === 0 && !isList ? bullet + line : line && indent + line)).join("\n");
}

function code(text: string, language: string): string {
  const fence = "`".repeat(Math.max(3, longestBacktickRun(text) + 1));
  return `${fence}${language.replace(/[\s`]/g, "")}\n${text}\n${fence}`;
}

function quote(text: string): string {
  return text
    .split("\n")
    .map((line) => (line ? `> ${line}` : ">"))
    .join("\n");
}

function table(rows: readonly ParsedNode[]): string {
  const cells = rows.map((row) => childrenOf(row, ["tableRow"]).map(tableCell));
  const width = Math.max(1, ...cells.map((row) => row.length));
  const lines = cells.map((row) => `| ${Array.from({ length: width }, (_, i) => row[i] ?? "").join(" | ")} |`);
  const isHeader = rows[0]?.content.some(({ type }) => type === "tableHeader");
  const head = isHeader ? [] : [`|${"  |".repeat(width)}`];
  const all = [...head, ...lines];
  return [all[0], `|${" --- |".repeat(width)}`, ...all.slice(1)].join("\n");
}

function tableCell(cell: ParsedNode): string {
  return blocks(childrenOf(cell, ["tableCell", "tableHeader"]))
    .replaceAll("|", "\\|")
    .replace(/\n+/g, "<br>");
}

/** Returns the children; the node itself if it is of an unexpected type. */
function childrenOf(node: ParsedNode, expected: readonly string[]): readonly ParsedNode[] {
  return expected.includes(node.type) ? node.content : [node];
}

function inlines(nodes: readonly ParsedNode[]): string {
  return nodes.map((node) => applyMarks(inlineText(node) ?? blocks(node.content), node)).join("");
}

/** Returns the text of an inline node, without its marks; undefined for other nodes. */
function inlineText({ type, text, attrs }: ParsedNode): string | undefined {
  switch (type) {
    case "text":
      return text;
    case "hardBreak":
      return "\n";
    case "mention":
      return `@${(attrs["text"] ?? attrs["id"] ?? "unknown").replace(/^@/, "")}`;
    case "emoji":
      return attrs["text"] ?? attrs["shortName"] ?? "";
    case "status":
      return `[${attrs["text"] ?? ""}]`;
    case "date":
      return formatDate(attrs["timestamp"]);
    case "inlineCard":
    case "blockCard":
    case "embedCard":
      return attrs["url"] ?? "";
    case "media":
    case "mediaInline":
      return `[attachment: ${attrs["alt"] || attrs["id"] || "file"}]`;
    default:
      return undefined;
  }
}

function formatDate(timestamp: string | undefined): string {
  const at = new Date(Number(timestamp));
  return Number.isNaN(at.getTime()) ? "" : at.toISOString().slice(0, 10);
}

function applyMarks(text: string, { marks }: ParsedNode): string {
  // Marks belong next to the words, not to the blanks around them.
  const words = text.trim();
  if (words === "") return text;
  const start = text.length - text.trimStart().length;
  const types = marks.map(({ type }) => type);
  let result = types.includes("code") ? inlineCode(words) : words;
  if (types.includes("strong")) result = `**${result}**`;
  if (types.includes("em")) result = `*${result}*`;
  if (types.includes("strike")) result = `~~${result}~~`;
  const href = marks.find(({ type }) => type === "link")?.attrs["href"];
  if (href !== undefined && href !== words) result = `[${result}](${href})`;
  return text.slice(0, start) + result + text.slice(start + words.length);
}

function inlineCode(text: string): string {
  const longest = longestBacktickRun(text);
  const ticks = "`".repeat(longest + 1);
  return longest > 0 ? `${ticks} ${text} ${ticks}` : ticks + text + ticks;
}
