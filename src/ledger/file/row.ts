import { createHash, hash } from "node:crypto";
import { largestEventBytes } from "../event-text.ts";
import type { LedgerEvent } from "../ledger.ts";

/** An event as a writer recorded it. */
export interface LedgerRow extends LedgerEvent {
  readonly writer: string;
  /** Counts the rows of the writer, from 1. */
  readonly seq: number;
  /** The number of the writer's last row that was durable before this one was written. Later rows were written together. */
  readonly synced: number;
  /** The hash of the row before, or `noHash`. */
  readonly previous: string;
  /** SHA-256 of everything before it in the line, closed by a brace. */
  readonly hash: string;
}

/** The newest row of a chain. */
export interface Head {
  /** Of the newest row; 0 if there is none. */
  readonly seq: number;
  readonly hash: string;
}

/** The row before the first one to check. Its hash is unknown if only the database has it. */
export interface Start extends Omit<Head, "hash"> {
  readonly hash: string | undefined;
}

/** Before the first row of a chain. */
export const noHash = "0".repeat(64);

/** More than the chain adds to the text of an event. */
export const overheadBytes = 300;

/** More than any line has. */
export const maxLineBytes = largestEventBytes + overheadBytes;

/** Of lines that are written together. */
export const maxBatchBytes = 512 * 1024;

const endingBytes = `,"hash":"${noHash}"}`.length;

/** The line of an event, and its hash. `text` is the event's own, see `eventText`. */
export function rowLine(text: string, place: Pick<LedgerRow, "writer" | "seq" | "synced" | "previous">) {
  const { writer, seq, synced, previous } = place;
  const hashed = `{"writer":"${writer}","seq":${seq},"synced":${synced},"previous":"${previous}",${text}`;
  const own = hash("sha256", `${hashed}}`);
  return { line: `${hashed},"hash":"${own}"}\n`, hash: own };
}

/** The row of a line without its newline; undefined unless the hash matches. */
export function readRow(line: Buffer): LedgerRow | undefined {
  if (line.length <= endingBytes || line.length > maxLineBytes) return undefined;
  const own = createHash("sha256").update(line.subarray(0, -endingBytes)).update("}").digest("hex");
  if (line.toString("latin1", line.length - endingBytes) !== `,"hash":"${own}"}`) return undefined;
  try {
    const row = JSON.parse(line.toString()) as Partial<LedgerRow>;
    // A valid hash shows that nothing was changed since, not that this process wrote it.
    return Number.isSafeInteger(row.seq) && Number.isSafeInteger(row.synced) ? (row as LedgerRow) : undefined;
  } catch {
    return undefined;
  }
}
