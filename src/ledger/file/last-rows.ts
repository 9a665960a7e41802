import { type DiskFile, type DiskView, readLines, type Segment } from "../../disk/index.ts";
import { type Head, type LedgerRow, maxBatchBytes, maxLineBytes, readRow } from "./row.ts";

/** More than one write can have, so that its beginning was durable before the last write began. */
const windowBytes = maxBatchBytes + 2 * maxLineBytes;

export interface LastRows {
  readonly rows: readonly LedgerRow[];
  /** Nothing follows them in the file. */
  readonly isWhole: boolean;
}

/** The last rows of a segment, as far as they follow one another. They are durable when this resolves. */
export async function lastRows(view: DiskView, { name }: Segment, writer: string): Promise<LastRows> {
  const file = await view.open(name, "read");
  try {
    const last = await rowsAtEnd(file, writer);
    // Another process may just have written them; a record about them must not outlive them.
    await file.sync();
    return last;
  } finally {
    await file.close();
  }
}

async function rowsAtEnd(file: DiskFile, writer: string): Promise<LastRows> {
  const rows: LedgerRow[] = [];
  const start = Math.max(0, (await file.size()) - windowBytes);
  for await (const { number, bytes, isEnded } of readLines(file, start)) {
    // Most likely the end of a line that began earlier.
    if (number === 1 && start > 0) continue;
    const row = isEnded ? readRow(bytes) : undefined;
    if (row?.writer !== writer || !follows(row, rows.at(-1))) return { rows, isWhole: false };
    rows.push(row);
  }
  return { rows, isWhole: true };
}

/** Whether `row` is the next one in the chain, as far as the one before it is known. */
export function follows(row: LedgerRow, before: Head | undefined): boolean {
  return !before || (row.seq === before.seq + 1 && row.previous === before.hash);
}
