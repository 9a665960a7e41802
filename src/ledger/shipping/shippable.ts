import type { Portion, WrittenRow } from "../file/journal-reader.ts";
import type { Head } from "../file/row.ts";

/** A journal from the view of the shipper. */
export interface Shippable {
  readonly writer: string;
  /** Its newest row that is durable. */
  head(): Head;
  /** The number of the row before the first that is still here. */
  begin(): Promise<number>;
  /** Durable rows behind number `after`. */
  read(after: number, portion: Omit<Portion, "until">): Promise<readonly WrittenRow[]>;
  /** The database has all rows up to `seq`: removes the segments that are no longer needed. */
  forget(seq: number): Promise<void>;
  /** Calls `listener` whenever there are more durable rows. */
  onMore(listener: () => void): void;
}
