import type { DiskView } from "../../disk/index.ts";
import { noHash, type Start } from "./row.ts";

/** A file with some of a writer's rows, one per line. The next one goes on where it ends. */
export interface Segment {
  readonly name: string;
  /** The number of its first row. */
  readonly first: number;
}

/** Sixteen digits are enough for every safe integer: names in order are rows in order. */
export function segmentName(first: number): string {
  return `${String(first).padStart(16, "0")}.jsonl`;
}

/** The segments among the files of a writer's directory, in order. */
export function segmentsAmong(names: readonly string[]): Segment[] {
  const found = names.filter((name) => /^\d{16}\.jsonl$/.test(name)).sort();
  return found.map((name) => ({ name, first: Number(name.slice(0, 16)) }));
}

/** Where the journal begins: with the first row ever, or, when the database has what came before, somewhere later. */
export function startOf(segments: readonly Segment[]): Start {
  const first = segments[0]?.first ?? 1;
  return first === 1 ? { seq: 0, hash: noHash } : { seq: first - 1, hash: undefined };
}

/**
 * Segments that are no longer needed when the database has everything up to row `seq`. The two newest stay: where the
 * newest was just begun, the one before it tells where the chain stands.
 */
export function removable(segments: readonly Segment[], seq: number): Segment[] {
  return segments.filter((_, i) => i < segments.length - 2 && (segments[i + 1] as Segment).first - 1 <= seq);
}

export async function sizeOf(disk: DiskView, name: string): Promise<number> {
  const file = await disk.open(name, "read");
  try {
    return await file.size();
  } finally {
    await file.close();
  }
}
