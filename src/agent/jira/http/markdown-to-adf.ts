import type { AdfMark, AdfNode } from "./adf.ts";

export interface AdfDocument {
  readonly version: 1;
  readonly type: "doc";
  readonly content: readonly AdfNode[];
}

/** Jira rejects longer comments. This length fits whether Jira counts characters or the whole document. */
const maxSize = 32_767;
const cutNote = "\n\n… (the rest was too long for a comment)";

/**
 * Converts the Markdown of a comment to Jira's document format: paragraphs, lists, fenced code, links, bold and code.
 */
export function markdownToAdf(markdown: string): AdfDocument {
  const text = markdown.replaceAll("\r\n", "\n");
  let document = toDocument(text);
  let kept = text.length;
  for (let size = measure(document); size > maxSize && kept > 0; size = measure(document)) {
    kept = Math.max(0, Math.floor((kept * maxSize) / size) - cutNote.length - 10);
    document = toDocument(cut(text, kept));
  }
  return document;
}

function measure(document: AdfDocument): number {
  return JSON.stringify(document).length;
}

function toDocument(text: string): AdfDocument {
  const content = toBlocks(text);
  return { version: 1, type: "doc", content: content.length > 0 ? content : [paragraph(" ")] };
}

function cut(text: string, length: number): string {
  // The cut is neither in the middle of a character nor inside of code.
  const kept = text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
  const isInCode = (kept.match(/^\s*```/gm)?.length ?? 0) % 2 === 1;
  return `${kept}${isInCode ? "\n```" : ""}${cutNote}`;
}

interface Piece {
  readonly kind: "code" | "heading" | "bullets" | "numbers" | "text";
  readonly lines: string[];
  readonly info?: string;
}

const bullet = /^\s*[-*+]\s+/;
const number = /^\s*\d+[.)]\s+/;

function toBlocks(text: string): AdfNode[] {
  return splitPieces(text.split("\n")).map(toNode);
}

/** Groups the lines that belong together. */
function splitPieces(lines: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  let open: Piece | undefined;
  for (const line of lines) {
    if (open?.kind === "code") {
      if (/^\s*```\s*$/.test(line)) open = undefined;
      else open.lines.push(line);
      continue;
    }
    const kind = pieceKind(line);
    if (kind === undefined) {
      open = undefined;
      continue;
    }
    if (kind === "code" || kind === "heading" || open?.kind !== kind) {
      // A line without a bullet continues the preceding item.
      if (kind === "text" && open && open.kind !== "heading" && /^\s/.test(line)) {
        open.lines.push(`${open.lines.pop() ?? ""} ${line.trim()}`);
        continue;
      }
      open = { kind, lines: [], ...(kind === "code" && { info: line.trim().slice(3).trim() }) };
      pieces.push(open);
      if (kind === "code") continue;
    }
    open.lines.push(line);
  }
  return pieces;
}

function pieceKind(line: string): Piece["kind"] | undefined {
  if (line.trim() === "") return undefined;
  if (/^\s*```/.test(line)) return "code";
  if (/^#{1,6}\s/.test(line)) return "heading";
  if (bullet.test(line)) return "bullets";
  return number.test(line) ? "numbers" : "text";
}

function toNode({ kind, lines, info }: Piece): AdfNode {
  switch (kind) {
    case "code":
      return {
        type: "codeBlock",
        ...(info && { attrs: { language: info } }),
        content: textNodes(lines.join("\n")),
      };
    case "heading": {
      const [, marks = "#", words = ""] = /^(#+)\s+(.*)$/.exec(lines[0] ?? "") ?? [];
      return { type: "heading", attrs: { level: marks.length }, content: toInlines(words) };
    }
    case "bullets":
      return { type: "bulletList", content: lines.map((line) => listItem(line.replace(bullet, ""))) };
    case "numbers":
      return { type: "orderedList", content: lines.map((line) => listItem(line.replace(number, ""))) };
    case "text":
      return { type: "paragraph", content: withBreaks(lines) };
  }
}

function listItem(text: string): AdfNode {
  return { type: "listItem", content: [paragraph(text)] };
}

function paragraph(text: string): AdfNode {
  return { type: "paragraph", content: toInlines(text) };
}

function withBreaks(lines: readonly string[]): AdfNode[] {
  return lines.flatMap((line, i) => [...(i > 0 ? [{ type: "hardBreak" }] : []), ...toInlines(line)]);
}

const inline =
  /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>)\]]*[^\s<>)\].,;:!?'"])/g;

function toInlines(text: string): AdfNode[] {
  const nodes: AdfNode[] = [];
  let at = 0;
  for (const match of text.matchAll(inline)) {
    nodes.push(...textNodes(text.slice(at, match.index)));
    const [whole, code, bold, label, href, url] = match;
    if (code !== undefined) nodes.push(...textNodes(code, { type: "code" }));
    else if (bold !== undefined) nodes.push(...textNodes(bold, { type: "strong" }));
    else nodes.push(...textNodes(label ?? url ?? whole, { type: "link", attrs: { href: href ?? url ?? whole } }));
    at = match.index + whole.length;
  }
  return [...nodes, ...textNodes(text.slice(at))];
}

/** Jira rejects empty text nodes. */
function textNodes(text: string, mark?: AdfMark): AdfNode[] {
  return text === "" ? [] : [{ type: "text", text, ...(mark && { marks: [mark] }) }];
}
