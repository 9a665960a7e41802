/** The position up to which a stream has been processed. Stored as UTC, compared as time. */
export interface Cursor {
  readonly updatedAt: string;
  /** The last processed item, if the cursor is at one. */
  readonly id?: string;
}

/** An item that a source listed. `finished`: done, or failed permanently. */
export interface PolledItem {
  readonly id: string;
  /** ISO 8601 with any offset. */
  readonly updatedAt: string;
  readonly finished: boolean;
}

export interface Poll {
  readonly items: readonly PolledItem[];
  /** The source's own clock when the poll began: the Date header of the first page. Never ours. */
  readonly serverDate: Date;
  /** Items may become visible this much after their time: transactions commit late, clocks of servers differ. */
  readonly overlapMs: number;
  /** There are pages that were not read: their items must not be skipped. */
  readonly more: boolean;
}

/** The start of a stream without a watermark: the server's time, a number of ms before it, or the first item. */
export type Beginning = "now" | number | "all";

/**
 * The cursor after a poll. It moves only over items that are finished, stops before the first that is not, stays an
 * overlap behind the source's clock, and never goes back. When everything that was listed is finished, an empty list
 * included, it moves up to that bound. Pure; returns `cursor` itself if it stays.
 */
export function nextCursor(cursor: Cursor, { items, serverDate, overlapMs, more }: Poll): Cursor {
  const reached = reach(items, more);
  if (!reached) return cursor;

  const boundMs = dateMs(serverDate) - overlapMs;
  const nextMs = Math.min(reached.ms, boundMs);
  if (nextMs <= instantMs(cursor.updatedAt)) return cursor;
  return { updatedAt: utc(nextMs), ...(reached.id !== undefined && reached.ms <= boundMs && { id: reached.id }) };
}

/** The end of the finished items: the last one before the first unfinished item, or no limit if all are finished. */
function reach(items: readonly PolledItem[], more: boolean): { readonly ms: number; readonly id?: string } | undefined {
  const ordered = sortByTime(items);
  const unfinished = ordered.findIndex(({ finished }) => !finished);
  if (unfinished === -1 && !more) return { ms: Number.POSITIVE_INFINITY };
  const last = (unfinished === -1 ? ordered : ordered.slice(0, unfinished)).at(-1);
  return last && { ms: instantMs(last.updatedAt), id: last.id };
}

/** The first item, by time, that holds the cursor. */
export function firstUnfinished(items: readonly PolledItem[]): PolledItem | undefined {
  return sortByTime(items).find(({ finished }) => !finished);
}

/** Sources list items in ascending order, except that an item that changes while pages are read moves to the end. */
function sortByTime(items: readonly PolledItem[]): PolledItem[] {
  return [...items].sort((a, b) => instantMs(a.updatedAt) - instantMs(b.updatedAt));
}

export function firstCursor(from: Beginning, serverDate: Date): Cursor {
  if (from === "all") return { updatedAt: utc(0) };
  return { updatedAt: utc(dateMs(serverDate) - (from === "now" ? 0 : from)) };
}

/** The start of the next query: an overlap before the cursor. Query "on or after"; claims remove repeated items. */
export function queryFrom({ updatedAt }: Cursor, overlapMs: number): string {
  return utc(instantMs(updatedAt) - overlapMs);
}

/** How far the cursor is behind the source, in ms. */
export function lag({ cursor }: { readonly cursor: Cursor }, serverDate: Date): number {
  return Math.max(0, dateMs(serverDate) - instantMs(cursor.updatedAt));
}

/**
 * Milliseconds since 1970 of an ISO 8601 time with an offset: `Z`, `+02:00`, `+0200` or `+02`. Finer fractions are cut
 * off, so that a cursor is never too late.
 */
export function instantMs(text: string): number {
  const shape = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:([Zz])|([+-]\d\d):?(\d\d)?)$/;
  const [, day, time, fraction = "", zulu, hours, minutes = "00"] = shape.exec(text) ?? [];
  const written = `${day}T${time}.${fraction.slice(0, 3).padEnd(3, "0")}`;
  const ms = Date.parse(`${written}Z`);
  // Date.parse takes the 30th of February for the 2nd of March.
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== `${written}Z`) throw notATime(text);
  return zulu ? ms : ms - offsetMs(hours ?? "", minutes, text);
}

function offsetMs(hours: string, minutes: string, text: string): number {
  if (Math.abs(Number(hours)) > 23 || Number(minutes) > 59) throw notATime(text);
  const ms = (Math.abs(Number(hours)) * 60 + Number(minutes)) * 60_000;
  return hours.startsWith("-") ? -ms : ms;
}

function notATime(text: string): TypeError {
  return new TypeError(`not an ISO 8601 time with an offset: ${JSON.stringify(text)}`);
}

function dateMs(date: Date): number {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw new TypeError("serverDate is not a valid date: did the response have a Date header?");
  return ms;
}

function utc(ms: number): string {
  return new Date(ms).toISOString();
}
