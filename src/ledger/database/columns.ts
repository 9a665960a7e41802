import { hash } from "node:crypto";
import { listSubjects } from "../event-filter.ts";
import type { WrittenRow } from "../file/journal-reader.ts";
import { readRow } from "../file/row.ts";

/** A line in a database, with its number there. */
export interface StoredLine {
  readonly seq: number;
  readonly line: string;
  /** Whether the columns for queries agree with the line. */
  readonly isIndexedCorrectly: boolean;
}

/** Only the line counts. The other columns are for queries, and can be derived from it again. */
export const columnNames = [
  "writer",
  "seq",
  "hash",
  "line",
  "id",
  "type",
  "at_ms",
  "target",
  "incident",
  "execution",
  "execution_id",
] as const;

export type Columns = Readonly<Record<(typeof columnNames)[number], string | number | null>>;

export function toColumns({ line, row }: WrittenRow): Columns {
  const subjects = listSubjects(row);
  return {
    writer: row.writer,
    seq: row.seq,
    hash: row.hash,
    line,
    id: columnText(row.id),
    type: row.type,
    at_ms: Date.parse(row.at),
    target: optionalText(subjects.target),
    incident: optionalText(subjects.incident),
    execution: optionalText(subjects.execution),
    execution_id: optionalText(subjects.execution_id),
  };
}

/** Whether the columns of a stored row agree with its line. Never true for a line that is no row. */
export function isIndexedCorrectly(stored: Columns): boolean {
  const line = String(stored.line);
  const row = readRow(Buffer.from(line));
  if (!row) return false;
  const made = toColumns({ line, row });
  return columnNames.every((name) => stored[name] === made[name]);
}

const longestText = 500;

/**
 * Text as a column holds it: different texts stay different, none is too long for an index, and none has a character
 * that a database refuses.
 */
export function columnText(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1);
  return escaped.length <= longestText ? escaped : `sha256:${hash("sha256", escaped)}`;
}

function optionalText(fact: unknown): string | null {
  return typeof fact === "string" && fact !== "" ? columnText(fact) : null;
}
