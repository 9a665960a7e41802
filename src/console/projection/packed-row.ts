import type { Row, RowKind } from "../wire.ts";

/**
 * A row as one text: a JSON array of its values, without names. So it takes a third of the memory of an object, holds on to no
 * part of the object it was made of, and is searched at once.
 */
export interface PackedRow {
  readonly packed: string;
  /** Where the texts begin that a search looks at. */
  readonly textAt: number;
}

/** Fields that no search looks at: numbers, times and what the console itself computes. */
const plainFields = {
  incidents: ["version", "createdAt", "next", "seen", "lastSeenAt", "closedAt", "until"],
  executions: ["version", "createdAt", "startedAt", "endedAt"],
  approvals: ["version", "createdAt", "requiredBy", "decidedAt"],
  pauses: ["version", "createdAt", "until", "endedAt"],
  targets: ["version", "createdAt", "heldSince", "fence"],
  tasks: ["version", "createdAt", "endedAt"],
  notices: ["version", "createdAt"],
} as const satisfies Record<RowKind, readonly string[]>;

const textFields = {
  incidents: [
    ...["key", "name", "lane", "phase", "signal", "severity", "subject", "target", "workflow", "rule", "reason"],
    ...["message", "execution", "outcome"],
  ],
  executions: ["key", "name", "phase", "workflow", "target", "engine", "reason", "message", "incident"],
  approvals: ["key", "name", "workflow", "target", "why", "incident", "decision", "decidedBy"],
  pauses: ["key", "name", "scope", "author", "reason"],
  targets: ["key", "name", "target", "holder"],
  tasks: ["key", "name", "phase", "type", "project", "reference", "author", "message"],
  notices: ["key", "name", "phase", "subject", "incident", "channels"],
} as const satisfies Record<RowKind, readonly string[]>;

/** Packs the fields of a row that depend on its object alone; those from other objects are added when it is read. */
export function packRow(row: Row): PackedRow {
  const plain = values(row, plainFields[row.kind]);
  const packed = toLatin1(JSON.stringify([...plain, ...values(row, textFields[row.kind])]));
  return { packed, textAt: JSON.stringify(plain).length };
}

/** A part of a text as it is in a packed row. */
export function packText(text: string): string {
  return toLatin1(JSON.stringify(text).slice(1, -1));
}

/** One character beyond Latin-1 would double the memory that the whole text takes, so these are escaped. */
function toLatin1(json: string): string {
  return json.replace(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function unpackRow(kind: RowKind, packed: string): Row {
  const row: Record<string, unknown> = { kind };
  const all = JSON.parse(packed) as readonly unknown[];
  const names: readonly string[] = [...plainFields[kind], ...textFields[kind]];
  for (const [i, name] of names.entries()) if (all[i] !== null) row[name] = all[i];
  return row as unknown as Row;
}

function values(row: Row, names: readonly string[]): readonly unknown[] {
  return names.map((name) => (row as unknown as Readonly<Record<string, unknown>>)[name] ?? null);
}
