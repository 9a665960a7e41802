import type { Changes, IncidentRow, Lane, Now, Row, RowKind } from "../../../src/console/wire.ts";
import { compareActing } from "../lanes.ts";

/** The loaded part of a list of rows, newest first. */
export interface RowList<R extends Row> {
  readonly rows: readonly R[];
  /** The number of all rows, loaded or not. */
  readonly total: number;
  /** False if rows exist that are not loaded. */
  readonly isComplete: boolean;
}

export interface Merged<T> {
  readonly value: T;
  /** False if only the server has the current total. */
  readonly isExact: boolean;
}

/** The list after the changes. `matches` decides whether a changed row belongs to it. */
export function mergeRows<R extends Row>(
  list: RowList<R>,
  changes: Changes,
  { kind, matches }: { readonly kind: RowKind; readonly matches: (row: R) => boolean },
): Merged<RowList<R>> {
  const changed = newestRows(changes.changed.filter((row): row is R => row.kind === kind));
  const removed = changes.removed.filter((row) => row.kind === kind);
  if (changed.length === 0 && removed.length === 0) return { value: list, isExact: true };

  // Rows of the list that change, by key: undefined for those that leave it. The list may be long, the changes are few.
  const known = findRows(list.rows, [...changed, ...removed]);
  const replaced = new Map<string, R | undefined>();
  const added: R[] = [];
  const oldest = list.rows.at(-1);
  let isExact = true;
  for (const { key } of removed) {
    if (known.has(key)) replaced.set(key, undefined);
    else if (!list.isComplete) isExact = false;
  }
  for (const row of changed) {
    const before = known.get(row.key);
    const belongs = matches(row);
    if (before) {
      if (isNewer(row, before)) replaced.set(row.key, belongs ? row : undefined);
    } else if (list.isComplete || (belongs && (!oldest || compareRows(row, oldest) < 0))) {
      if (belongs) added.push(row);
    } else {
      // It is beyond the loaded part: it may have been counted there before, or not.
      isExact = false;
    }
  }
  const kept =
    replaced.size === 0
      ? list.rows
      : list.rows.flatMap((row) => (replaced.has(row.key) ? (replaced.get(row.key) ?? []) : row));
  const rows = mergeSorted(kept, added.sort(compareRows));
  const total = Math.max(list.total + rows.length - list.rows.length, rows.length);
  return { value: { rows, total, isComplete: list.isComplete }, isExact };
}

/** The list with the next page appended. A row that a change has added meanwhile is kept as it is. */
export function appendRows<R extends Row>(list: RowList<R>, page: RowList<R>): RowList<R> {
  const known = findRows(list.rows, page.rows);
  const rows = mergeSorted(
    list.rows,
    page.rows.filter(({ key }) => !known.has(key)),
  );
  return { rows, total: page.total, isComplete: page.isComplete };
}

/** Each row once: the last one of several with the same key. */
function newestRows<R extends Row>(rows: readonly R[]): readonly R[] {
  return [...new Map(rows.map((row) => [row.key, row])).values()];
}

function findRows<R extends Row>(
  rows: readonly R[],
  wanted: readonly { readonly key: string }[],
): ReadonlyMap<string, R> {
  const keys = new Set(wanted.map(({ key }) => key));
  return new Map(rows.flatMap((row) => (keys.has(row.key) ? [[row.key, row] as const] : [])));
}

/** Merges two sorted lists. */
function mergeSorted<R extends Row>(rows: readonly R[], added: readonly R[]): readonly R[] {
  if (added.length === 0) return rows;
  const merged: R[] = [];
  let next = 0;
  for (const row of rows) {
    for (let other = added[next]; other && compareRows(other, row) < 0; other = added[next]) {
      merged.push(other);
      next += 1;
    }
    merged.push(row);
  }
  return [...merged, ...added.slice(next)];
}

/** The page Now after the changes. */
export function mergeNow(now: Now, changes: Changes, maxRows: number): Merged<Now> {
  const known = new Map<string, { row: IncidentRow; lane: Lane }>();
  for (const { lane, rows } of now.lanes) for (const row of rows) known.set(row.key, { row, lane });
  const isComplete = now.lanes.every(({ rows, total }) => rows.length === total);
  const totals = new Map(now.lanes.map(({ lane, total }) => [lane, total]));
  const add = (lane: Lane, count: number) => totals.set(lane, (totals.get(lane) ?? 0) + count);
  let isExact = true;

  for (const { kind, key } of changes.removed) {
    if (kind !== "incidents") continue;
    const previous = known.get(key);
    if (previous) add(previous.lane, -1);
    else if (!isComplete) isExact = false;
    known.delete(key);
  }
  for (const row of changes.changed) {
    if (row.kind !== "incidents") continue;
    const previous = known.get(row.key);
    if (previous && !isNewer(row, previous.row)) continue;
    // A row that no lane shows is new, or it is one of those that were left out.
    if (previous) add(previous.lane, -1);
    else if (!isComplete) isExact = false;
    add(row.lane, 1);
    known.set(row.key, { row, lane: row.lane });
  }

  const shown = [...known.values()];
  const lanes = now.lanes.map(({ lane }) => {
    const all = shown
      .flatMap((at) => (at.lane === lane ? at.row : []))
      .sort((a, b) => (lane === "running" ? compareActing(a, b) : 0) || compareRows(a, b));
    const total = Math.max(totals.get(lane) ?? 0, all.length);
    if (all.length < Math.min(total, maxRows)) isExact = false;
    return { lane, total, rows: all.slice(0, maxRows) };
  });
  const pauses = mergeSmall(now.pauses, changes, (row) => row.kind === "pauses" && row.endedAt === undefined);
  const approvals = mergeSmall(
    now.approvals,
    changes,
    (row) => row.kind === "approvals" && row.incident === undefined && row.decision === undefined,
  );
  const executions = mergeSmall(
    now.executions,
    changes,
    (row) => row.kind === "executions" && row.incident === undefined && !endedPhases.includes(row.phase),
  );
  return { value: { ...now, lanes, pauses, approvals, executions }, isExact };
}

const endedPhases = ["Completed", "Failed", "Skipped"];

/** A short list that is always complete. */
function mergeSmall<R extends Row>(rows: readonly R[], changes: Changes, belongs: (row: Row) => boolean): readonly R[] {
  const byKey = new Map<string, R>(rows.map((row) => [`${row.kind} ${row.key}`, row]));
  for (const { kind, key } of changes.removed) byKey.delete(`${kind} ${key}`);
  for (const row of changes.changed) {
    const id = `${row.kind} ${row.key}`;
    if (belongs(row)) byKey.set(id, row as R);
    else byKey.delete(id);
  }
  return [...byKey.values()].sort(compareRows);
}

/** Versions are numbers as text, of any length. An unordered version counts as newer. */
function isNewer(row: Row, known: Row): boolean {
  const [a, b] = [row.version, known.version];
  if (!/^\d+$/.test(a) || !/^\d+$/.test(b)) return true;
  return a.length === b.length ? a >= b : a.length > b.length;
}

/** Newest first; rows of the same moment by their key, so that they keep their places. */
function compareRows(a: Row, b: Row): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}
