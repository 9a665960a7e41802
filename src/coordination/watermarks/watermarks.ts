import { CoordinationError } from "../errors.ts";
import type { Key } from "../key.ts";
import type { Guarantee } from "../locks/locks.ts";
import {
  type Beginning,
  type Cursor,
  firstCursor,
  firstUnfinished,
  nextCursor,
  type PolledItem,
  queryFrom,
} from "./cursor.ts";

/**
 * Port: the storage of watermarks. Their movement is written once, in `openWatermark` and `nextCursor`.
 * All rejections are a `CoordinationError`; after `unavailable` a write may or may not have happened.
 */
export interface WatermarkStore {
  /** `process`: a restart forgets it, and then begins as if it had never run. */
  readonly guarantee: Guarantee;
  read(key: Key): Promise<WatermarkRecord | undefined>;
  /**
   * Writes `next` if the record is still the `expected` revision, or still absent, and was not written with a larger
   * fence. Atomic.
   */
  write(key: Key, next: WatermarkEntry, expected: string | "absent"): Promise<WriteOutcome>;
}

export interface WatermarkEntry {
  readonly cursor: Cursor;
  /** Of the lock under which the stream is polled. */
  readonly fence: bigint;
}

export interface WatermarkRecord extends WatermarkEntry {
  /** Different after every write. */
  readonly revision: string;
}

/** `stale`: a later poller, with a larger fence, was here. */
export type WriteOutcome =
  | { readonly kind: "written"; readonly record: WatermarkRecord }
  | { readonly kind: "conflict"; readonly current: WatermarkRecord | undefined }
  | { readonly kind: "stale"; readonly fence: bigint };

export interface WatermarkOptions {
  /** Where to begin if there is no watermark yet. */
  readonly from: Beginning;
  /** The source's clock, for `from`: the Date header of any of its responses. */
  readonly serverDate: Date;
  /** How late an item may become visible. Default 60 s. */
  readonly overlapMs?: number;
  /** Fence of the lock under which this process polls. Default 0: no write is rejected for its fence, and only the revision protects. */
  readonly fence?: bigint;
}

/**
 * The resume point of one stream. It only moves forward, and only over finished items. Each source, project and kind of item has
 * its own, so that a failing one does not block the rest.
 */
export interface Watermark {
  readonly key: Key;
  readonly record: WatermarkRecord;
  /** The start of the next query, inclusive. */
  queryFrom(): string;
  /**
   * Moves over the finished `items`, given in any order. `more`: the list was not read to its end. Read it at least
   * past the items that the overlap repeats; otherwise the watermark cannot move.
   */
  advance(
    items: readonly PolledItem[],
    serverDate: Date,
    options?: { readonly more?: boolean },
  ): Promise<AdvanceOutcome>;
}

/** `heldBy`: the id of the item that it waits for. `stale`: another process polls this stream now; stop. */
export type AdvanceOutcome =
  | { readonly kind: "advanced" | "unchanged"; readonly cursor: Cursor; readonly heldBy: string | undefined }
  | { readonly kind: "stale"; readonly fence: bigint };

/** The reason why `next` must not be written, for stores that read before they write; undefined if there is none. */
export function findRefusal(
  current: WatermarkRecord | undefined,
  next: WatermarkEntry,
  expected: string | "absent",
): WriteOutcome | undefined {
  if (current && current.fence > next.fence) return { kind: "stale", fence: current.fence };
  return (current?.revision ?? "absent") === expected ? undefined : { kind: "conflict", current };
}

/** How often other writers may be faster before `advance` rejects. */
const maxTries = 10;

/**
 * The watermark of a stream. If there is none yet it is written before this returns, and so before the first poll: a
 * crash between the two must not make "now" mean a later now.
 */
export async function openWatermark(store: WatermarkStore, key: Key, options: WatermarkOptions): Promise<Watermark> {
  const { from, serverDate, overlapMs = 60_000, fence = 0n } = options;
  const mistake = findMistake(overlapMs, from);
  if (mistake) throw new TypeError(mistake);

  const record = (await store.read(key)) ?? (await begin(store, key, { cursor: firstCursor(from, serverDate), fence }));
  if (record.fence > fence) throw supersededError(key, record.fence);
  return watermarkAt(record, { store, key, overlapMs, fence });
}

async function begin(store: WatermarkStore, key: Key, first: WatermarkEntry): Promise<WatermarkRecord> {
  const outcome = await store.write(key, first, "absent");
  switch (outcome.kind) {
    case "written":
      return outcome.record;
    case "stale":
      throw supersededError(key, outcome.fence);
    case "conflict":
      if (outcome.current) return outcome.current;
      throw new CoordinationError(
        "unavailable",
        `${key}: the watermark is created and removed repeatedly; is another process resetting it?`,
      );
  }
}

interface WatermarkContext {
  readonly store: WatermarkStore;
  readonly key: Key;
  readonly overlapMs: number;
  readonly fence: bigint;
}

function watermarkAt(opened: WatermarkRecord, { store, key, overlapMs, fence }: WatermarkContext): Watermark {
  let record = opened;

  async function advance(
    items: readonly PolledItem[],
    serverDate: Date,
    { more = false }: { readonly more?: boolean } = {},
  ): Promise<AdvanceOutcome> {
    const heldBy = firstUnfinished(items)?.id;
    for (let tries = 0; tries < maxTries; tries++) {
      const cursor = nextCursor(record.cursor, { items, serverDate, overlapMs, more });
      const moves = cursor !== record.cursor;
      // A larger fence is written even if nothing moves: the poller with the smaller one may be at the same position each time,
      // and would never be rejected.
      if (!moves && record.fence >= fence) return { kind: "unchanged", cursor, heldBy };

      const outcome = await store.write(key, { cursor, fence }, record.revision);
      switch (outcome.kind) {
        case "written":
          record = outcome.record;
          return { kind: moves ? "advanced" : "unchanged", cursor, heldBy };
        case "stale":
          return outcome;
        case "conflict":
          if (!outcome.current) throw new CoordinationError("lost", `${key}: the watermark was removed`);
          // Another poll, or our own write whose response was lost. Items that we saw finished are finished from there, too.
          record = outcome.current;
      }
    }
    throw new CoordinationError("unavailable", `${key}: the watermark changes faster than it can be written`);
  }

  return {
    key,
    get record() {
      return record;
    },
    queryFrom: () => queryFrom(record.cursor, overlapMs),
    advance,
  };
}

function findMistake(overlapMs: number, from: Beginning): string | undefined {
  if (!(overlapMs >= 0 && Number.isFinite(overlapMs))) {
    return `overlapMs must be a finite number, 0 or more; got ${overlapMs}`;
  }
  const isDuration = typeof from === "number" && from >= 0 && Number.isFinite(from);
  return isDuration || from === "now" || from === "all" ? undefined : `from must be "now", "all" or ms; got ${from}`;
}

function supersededError(key: Key, fence: bigint): CoordinationError {
  return new CoordinationError("lost", `${key}: another poller has the larger fence ${fence}`);
}
