import { cutText } from "../../telemetry/index.ts";
import type { Row } from "../wire.ts";

/** Of a row as JSON, in bytes. A page keeps thousands of rows, and a change sends them to every viewer. */
export const maxRowBytes = 1_024;

/** Texts of people and of outside systems, which may be long and can be cut. */
const texts = [
  "message",
  "why",
  "reason",
  "scope",
  "subject",
  "signal",
  "target",
  "rule",
  "project",
  "reference",
  "author",
  "decidedBy",
  "severity",
  "workflow",
  "name",
] as const;

/** References to other objects. A part of one is of no use, so it is whole or absent. */
const references = ["approval", "execution", "incident", "holder"] as const;

/** A text is not cut below this length, so that it can still be recognized. */
const minTextLength = 8;

/** Returns `row` with its longest texts cut as far as needed for `maxRowBytes`, then without lists' ends and long references. */
export function fitRow<R extends Row>(row: R): R {
  let excess = jsonBytes(row) - maxRowBytes;
  if (excess <= 0) return row;
  const fitted: Record<string, unknown> = { ...row };
  while (excess > 0 && (shortenLongest(fitted, excess) || dropChannel(fitted) || dropLongest(fitted))) {
    excess = jsonBytes(fitted) - maxRowBytes;
  }
  return fitted as unknown as R;
}

function shortenLongest(row: Record<string, unknown>, excess: number): boolean {
  const field = longest(row, texts, minTextLength);
  if (field === undefined) return false;
  const text = String(row[field]);
  // A character takes up to six bytes in JSON, so how many to remove depends on the text.
  const removed = Math.ceil((excess * text.length) / jsonBytes(text)) + 1;
  row[field] = cutText(text, Math.max(minTextLength, text.length - removed));
  return true;
}

function dropChannel(row: Record<string, unknown>): boolean {
  const { channels } = row;
  if (!Array.isArray(channels) || channels.length === 0) return false;
  row["channels"] = channels.slice(0, -1);
  return true;
}

function dropLongest(row: Record<string, unknown>): boolean {
  const field = longest(row, references, 0);
  if (field === undefined) return false;
  delete row[field];
  return true;
}

/** The field with the longest text above `minLength`. */
function longest(
  row: Readonly<Record<string, unknown>>,
  fields: readonly string[],
  minLength: number,
): string | undefined {
  let found: string | undefined;
  let longestLength = minLength;
  for (const field of fields) {
    const text = row[field];
    if (typeof text !== "string" || text.length <= longestLength) continue;
    found = field;
    longestLength = text.length;
  }
  return found;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
