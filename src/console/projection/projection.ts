import type { Now, Row, RowFilter, RowKind, RowPage } from "../wire.ts";

/** Rows of our kinds, kept current by watches while there are readers. Every read waits until they are complete. */
export interface Projection {
  /** Returns one page of rows, newest first. Throws RequestError if filter or cursor cannot be read. */
  page(kind: RowKind, request: PageRequest): Promise<RowPage>;
  now(): Promise<Now>;
  row(kind: RowKind, key: string): Promise<Row | undefined>;
  /**
   * Yields Server-Sent Events as they are written to the response: changes after the version `after`, `reset` where these
   * are not known any more, and a beat at least every two seconds. A reader that is too slow gets `reset` in place of what
   * it missed. Ends when `signal` aborts or the projection is closed.
   */
  stream(request: StreamRequest): AsyncIterable<Uint8Array>;
  close(): void;
}

export interface PageRequest {
  readonly filter: RowFilter;
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string;
}

export interface StreamRequest {
  readonly kinds: readonly RowKind[];
  /** The version of the page that the reader has, or the Last-Event-ID. Without one, changes from now on. */
  readonly after?: string;
  readonly signal: AbortSignal;
}

/** A filter, a cursor or a kind that cannot be understood. The message is a sentence for people. */
export class RequestError extends Error {
  override readonly name = "RequestError";
}
