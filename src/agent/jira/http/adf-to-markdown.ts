import { attributeOf, childrenOf, inlineText, isRecord, maxDepth, plainText, typeOf } from "./adf.ts";

/**
 * Converts Jira's document format to Markdown, for people and the coder. Text stays as it was written: nothing is
 * escaped. Accepts any input and never throws; unknown nodes are read for their text.
 */
export function adfToMarkdown(document: unknown): string {
  if (typeof document === "string") return document;
  return blocks(childrenOf(document), 0).trim();
}

function blocks(nodes: readonly unknown[], depth: number): string {
  if (depth > maxDepth) return "";
  const parts: string[] = [];
  let line: unknown[] = [];
  const endLine = () => {
    if (line.length > 0) parts.push(inlines(line, depth));
    line = [];
  };
  for (const node of nodes) {
    if (inlineText(node) !== undefined && typeOf(node) !== "blockCard") {
      line.push(node);
    } else {
      endLine();
      parts.push(block(node, depth));
    }
  }
  endLine();
  return parts.filter((part) => part.trim() !== "").join("\n\n");
}

function block(node: unknown, depth: number): string {
  const children = childrenOf(node);
  switch (typeOf(node)) {
    case "paragraph":
      return inlines(children, depth);
    case "heading":
      return `${"#".repeat(headingLevel(attributeOf(node, "level")))} ${inlines(children, depth).replaceAll("\n", " ")}`;
    case "bulletList":
    case "taskList":
    case "decisionList":
      return list(children, depth, () => "- ");
    case "orderedList":
      return list(children, depth, (i) => `${Math.floor(Number(attributeOf(node, "order") ?? 1)) + i}. `);
    case "codeBlock":
      return code(
        children.map((child) => inlineText(child) ?? plainText(child)).join(""),
        String(attributeOf(node, "language") ?? ""),
      );
    case "blockquote":
      return quote(blocks(children, depth + 1));
    case "panel":
      return quote(`**${panelName(attributeOf(node, "panelType"))}**\n\n${blocks(children, depth + 1)}`);
    case "expand":
    case "nestedExpand":
      return [attributeOf(node, "title") && `**${attributeOf(node, "title")}**`, blocks(children, depth + 1)]
        .filter(Boolean)
        .join("\n\n");
    case "table":
      return table(children, depth);
    case "rule":
      return "---";
    default:
      return inlineText(node) ?? blocks(children, depth + 1);
  }
}

function headingLevel(level: string | number | undefined): number {
  const number = Number(level);
  return number >= 1 && number <= 6 ? Math.floor(number) : 1;
}

function panelName(type: string | number | undefined): string {
  const name = String(type ?? "note");
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function list(items: readonly unknown[], depth: number, bullet: (i: number) => string): string {
  if (depth > maxDepth) return "";
  return items.map((item, i) => listItem(item, depth, bullet(i))).join("\n");
}

const items = ["listItem", "taskItem", "decisionItem"];

function listItem(item: unknown, depth: number, bullet: string): string {
  // A list directly within a list belongs to the preceding item.
  const isList = /List$/.test(typeOf(item));
  const state = attributeOf(item, "state");
  const box = typeOf(item) === "taskItem" ? `[${state === "DONE" ? "x" : " "}] ` : "";
  const content = isList ? block(item, depth + 1) : blocks(within(item, items), depth + 1).replaceAll("\n\n- ", "\n- ");
  const indent = " ".repeat(bullet.length);
  const lines = `${isList ? "" : box}${content}`.split("\n");
  return lines.map((line, i) => (i === 0 && !isList ? bullet + line : line && indent + line)).join("\n");
}

function code(text: string, language: string): string {
  // Longer than any fence in the text.
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language.replace(/[\s`]/g, "")}\n${text}\n${fence}`;
}

function quote(text: string): string {
  return text
    .split("\n")
    .map((line) => (line ? `> ${line}` : ">"))
    .join("\n");
}

function table(rows: readonly unknown[], depth: number): string {
  const cells = rows.map((row) => within(row, ["tableRow"]).map((cell) => tableCell(cell, depth)));
  const width = Math.max(1, ...cells.map((row) => row.length));
  const lines = cells.map((row) => `| ${Array.from({ length: width }, (_, i) => row[i] ?? "").join(" | ")} |`);
  const isHeader = childrenOf(rows[0]).some((cell) => typeOf(cell) === "tableHeader");
  const head = isHeader ? [] : [`|${"  |".repeat(width)}`];
  const all = [...head, ...lines];
  return [all[0], `|${" --- |".repeat(width)}`, ...all.slice(1)].join("\n");
}

/** Returns the children; the node itself if it is of an unexpected kind. */
function within(node: unknown, expected: readonly string[]): readonly unknown[] {
  return expected.includes(typeOf(node)) ? childrenOf(node) : [node];
}

function tableCell(cell: unknown, depth: number): string {
  return blocks(within(cell, ["tableCell", "tableHeader"]), depth + 1)
    .replaceAll("|", "\\|")
    .replace(/\n+/g, "<br>");
}

function inlines(nodes: readonly unknown[], depth: number): string {
  return nodes.map((node) => applyMarks(inlineText(node) ?? blocks(childrenOf(node), depth + 1), node)).join("");
}

function applyMarks(text: string, node: unknown): string {
  const marks = isRecord(node) && Array.isArray(node["marks"]) ? node["marks"] : [];
  // Marks belong next to the words, not to the blanks around them.
  const words = text.trim();
  if (words === "") return text;
  const start = text.length - text.trimStart().length;
  const types = marks.map(typeOf);
  let result = types.includes("code") ? inlineCode(words) : words;
  if (types.includes("strong")) result = `**${result}**`;
  if (types.includes("em")) result = `*${result}*`;
  if (types.includes("strike")) result = `~~${result}~~`;
  const href = attributeOf(
    marks.find((mark) => typeOf(mark) === "link"),
    "href",
  );
  if (typeof href === "string" && href !== words) result = `[${result}](${href})`;
  return text.slice(0, start) + result + text.slice(start + words.length);
}

function inlineCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = "`".repeat(longest + 1);
  return longest > 0 ? `${ticks} ${text} ${ticks}` : ticks + text + ticks;
}
