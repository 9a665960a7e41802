import {
  type EventFilter,
  type LedgerEventType,
  type LedgerRow,
  ledgerEventTypes,
  verifyDatabase,
} from "../../ledger/index.ts";
import { RequestError } from "../projection/projection.ts";
import type { LedgerChains, LedgerPage } from "../wire.ts";
import type { LedgerReader } from "./read-context.ts";
import { describeEvent, eventTitle } from "./timeline.ts";

/** The filters of the ledger. */
export interface LedgerQuery {
  readonly search?: string;
  readonly incident?: string;
  readonly execution?: string;
  readonly target?: string;
  readonly type?: string;
  /** `next` of the page before. */
  readonly after?: string;
  readonly limit: number;
}

/** The database returns a period oldest first: the latest hour is read first, and before it twice as much each time. */
const firstWindowMs = 3_600_000;
/** The maximum number of events that are read for one page. The next page continues there. */
const maxScanned = 20_000;
const maxLimit = 200;

/** One page of events, newest first. */
export async function readLedgerPage(ledger: LedgerReader, query: LedgerQuery, nowMs: number): Promise<LedgerPage> {
  const { matches, filter } = readQuery(query);
  const limit = Math.min(Math.max(1, query.limit), maxLimit);
  const cursor = query.after === undefined ? { untilMs: nowMs + 60_000, skip: 0 } : readCursor(query.after);
  const read: LedgerRow[] = [];
  const found: LedgerRow[] = [];
  let { untilMs, skip } = cursor;
  let windowMs = firstWindowMs;
  while (untilMs > 0 && found.length <= limit && read.length < maxScanned) {
    const sinceMs = Math.max(0, untilMs - windowMs);
    const rows = await readWindow(ledger, { ...filter, sinceMs, untilMs });
    if (!rows) {
      windowMs = Math.ceil(windowMs / 8);
      continue;
    }
    // The first ones were on earlier pages.
    const rest = rows.reverse().slice(skip);
    skip = 0;
    for (const row of rest) {
      read.push(row);
      if (matches(row)) found.push(row);
    }
    untilMs = sinceMs;
    windowMs *= 2;
  }
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const next =
    found.length > limit && last ? cursorBehind(last, read, cursor) : untilMs > 0 ? `${untilMs}.0` : undefined;
  return { events: shown.map(toEvent), ...(next === undefined ? {} : { next }) };
}

/** The events of a period; undefined if there are too many of them and the period can be shorter. */
async function readWindow(
  ledger: LedgerReader,
  period: EventFilter & { readonly sinceMs: number; readonly untilMs: number },
): Promise<LedgerRow[] | undefined> {
  const isShortest = period.untilMs - period.sinceMs <= 1;
  const rows: LedgerRow[] = [];
  for await (const row of ledger.events(period)) {
    rows.push(row);
    if (rows.length > maxScanned && !isShortest) return undefined;
  }
  return rows;
}

/** Behind `last`, although others may have happened in the same millisecond. */
function cursorBehind(last: LedgerRow, read: readonly LedgerRow[], { untilMs, skip }: Cursor): string {
  const atMs = Date.parse(last.at);
  const same = read.slice(0, read.indexOf(last) + 1).filter((row) => Date.parse(row.at) === atMs).length;
  return `${atMs + 1}.${same + (untilMs === atMs + 1 ? skip : 0)}`;
}

function toEvent(row: LedgerRow): LedgerPage["events"][number] {
  const { id, at, type, facts } = row;
  const detail = describeEvent(row);
  return { id, at, type, summary: `${eventTitle(row)}${detail === "" ? "" : `: ${detail}`}`, facts };
}

function readQuery({ search = "", incident, execution, target, type }: LedgerQuery) {
  const known: LedgerEventType | undefined = ledgerEventTypes.find((one) => one === type);
  if (type !== undefined && !known) throw new RequestError(`nothing of the type "${type}" is recorded`);
  const filter: EventFilter = { incident, execution, target, type: known };
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const matches = (row: LedgerRow) => {
    if (words.length === 0) return true;
    const text = JSON.stringify([row.type, row.facts]).toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return { filter, matches };
}

interface Cursor {
  readonly untilMs: number;
  /** How many of the newest events before `untilMs` were on earlier pages. */
  readonly skip: number;
}

function readCursor(text: string): Cursor {
  const [, untilMs, skip] = /^(\d{1,15})\.(\d{1,9})$/.exec(text) ?? [];
  if (untilMs === undefined || skip === undefined) throw new RequestError("after is not the next of a page");
  return { untilMs: Number(untilMs), skip: Number(skip) };
}

/** The chain of each writer, checked from its first row to its last. */
export async function readLedgerChains(ledger: LedgerReader): Promise<LedgerChains> {
  const { writers, problems } = await verifyDatabase(ledger);
  const chains = writers.map(({ writer, rows, head }) => {
    const own = problems.filter(({ file }) => file.endsWith(`writer ${writer}`));
    const state = own.length === 0 ? "complete" : own.map(({ kind, message }) => `${kind}: ${message}`).join("; ");
    return { writer, rows, head: head?.hash ?? "", state };
  });
  return { chains };
}
