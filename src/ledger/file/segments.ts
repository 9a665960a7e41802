import { type Segment, segmentNames } from "../../disk/index.ts";
import { noHash, type Start } from "./row.ts";

/** The segments of a journal. The number of each is that of its first row, which has at most sixteen digits. */
export const journalSegments = segmentNames({ digits: 16, suffix: ".jsonl" });

/** The start of the journal: the first row ever or, when the database has the earlier rows, a later one. */
export function firstStart(segments: readonly Segment[]): Start {
  const first = segments[0]?.number ?? 1;
  return first === 1 ? { seq: 0, hash: noHash } : { seq: first - 1, hash: undefined };
}
