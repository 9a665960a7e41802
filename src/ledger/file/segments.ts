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
