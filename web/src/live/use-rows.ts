import type { ProblemDocument, Row, RowFilter, RowKind, RowPage } from "../../../src/console/wire.ts";
import { getJson, withQuery } from "../api.ts";
import { location } from "../router.ts";
import { serverNow } from "../time.ts";
import { filterFromQuery, matchesFilter } from "./filter.ts";
import { appendRows, mergeRows, type RowList } from "./merge.ts";
import { type LiveSource, useLive } from "./use-live.ts";

type RowOf<K extends RowKind> = Extract<Row, { readonly kind: K }>;

export interface LiveRows<R extends Row> extends RowList<R> {
  /** True until the first page is there. */
  readonly isLoading: boolean;
  readonly problem: ProblemDocument | undefined;
  /** Reads the next page, if there is one and it is not being read. */
  readonly loadMore: () => void;
}

interface LoadedRows<R extends Row> extends RowList<R> {
  readonly next: string | undefined;
}

const pageSize = 200;

/** The rows of a kind that match a filter, newest first, kept current by the stream. */
export function useRows<K extends RowKind>(kind: K, filter: RowFilter = {}): LiveRows<RowOf<K>> {
  const live = useLive(JSON.stringify([kind, filter]), () => rowSource<RowOf<K>>(kind, filter));
  const { value, problem } = live.state.value;
  const list = value ?? { rows: [], total: 0, isComplete: false };
  return { ...list, isLoading: value === undefined && problem === undefined, problem, loadMore: live.loadMore };
}

/** The rows that match the filters in the URL of a page; `defaults` are filters that the URL may replace. */
export function useFilteredRows<K extends RowKind>(kind: K, defaults: RowFilter = {}): LiveRows<RowOf<K>> {
  return useRows(kind, { ...defaults, ...filterFromQuery(location.value.query) });
}

function rowSource<R extends Row>(kind: RowKind, filter: RowFilter): LiveSource<LoadedRows<R>> {
  const options = { kind, matches: (row: R) => matchesFilter(row, filter, serverNow()) };
  return {
    read: (signal) => readPage<R>(kind, filter, { limit: pageSize, signal }),
    merge: (list, changes) => {
      const { value, isExact } = mergeRows(list, changes, options);
      return { value: value === list ? list : { ...value, next: list.next }, isExact };
    },
    // The rows are right: only the total is in doubt.
    async correct(signal) {
      const { total } = await readPage<R>(kind, filter, { limit: 1, signal });
      return (list) => ({ ...list, total });
    },
    async readMore({ next }, signal) {
      if (next === undefined) return (list) => list;
      const page = await readPage<R>(kind, filter, { after: next, limit: pageSize, signal });
      return (list) => ({ ...appendRows(list, page), next: page.next });
    },
  };
}

async function readPage<R extends Row>(
  kind: RowKind,
  filter: RowFilter,
  { signal, ...page }: { readonly limit: number; readonly after?: string; readonly signal: AbortSignal },
): Promise<LoadedRows<R>> {
  const { rows, total, next } = await getJson<RowPage>(withQuery(`/rows/${kind}`, { ...filter, ...page }), signal);
  return { rows: rows as readonly R[], total, next, isComplete: next === undefined };
}
