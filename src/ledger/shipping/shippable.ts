import type { Portion, WrittenRow } from "../file/journal-reader.ts";
import type { Head } from "../file/row.ts";

/** A journal, as whoever brings its rows to the database sees it. */
export interface Shippable {
  readonly writer: string;
  /** Its newest row that is durable. */
  head(): Head;
  /** The number of the row before the first that is still here. */
  begin(): Promise<number>;
  /** Durable rows behind number `after`. */
  read(after: number, portion: Omit<Portion, "until">): Promise<readonly WrittenRow[]>;
  /** The database has everything up to row `seq`: what can be removed is. */
  forget(seq: number): Promise<void>;
  /** Calls `listener` whenever there are more durable rows. */
  onMore(listener: () => void): void;
}
