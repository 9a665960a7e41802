/** A node of Jira's document format, as we write it. */
export interface AdfNode {
  readonly type: string;
  readonly text?: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
  readonly content?: readonly AdfNode[];
  readonly marks?: readonly AdfMark[];
}

export type AdfMark = Pick<AdfNode, "type" | "attrs">;

/** A node as it is read. Missing or invalid fields are empty, so all of them can be used without checks. */
export interface ParsedNode {
  readonly type: string;
  readonly text: string;
  readonly attrs: Readonly<Record<string, string | undefined>>;
  readonly content: readonly ParsedNode[];
  readonly marks: readonly ParsedNode[];
}

/** The maximum depth; deeper nodes are omitted. No document of a person is nested as deep. */
const maxDepth = 150;

/** Parses any value from outside. */
export function parseNode(value: unknown, depth = 0): ParsedNode {
  const { type, text, attrs, content, marks } = toRecord(value);
  return {
    type: typeof type === "string" ? type : "",
    text: typeof text === "string" ? text : "",
    attrs: Object.fromEntries(Object.entries(toRecord(attrs)).map(([name, attr]) => [name, toAttribute(attr)])),
    content: depth < maxDepth ? toList(content).map((child) => parseNode(child, depth + 1)) : [],
    marks: toList(marks).map((mark) => parseNode(mark, maxDepth)),
  };
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toAttribute(value: unknown): string | undefined {
  return typeof value === "string" || Number.isFinite(value) ? String(value) : undefined;
}
