import { useMemo } from "preact/hooks";
import type { LedgerPage } from "../../../src/console/wire.ts";
import { getJson, withQuery } from "../api.ts";
import type { TableRows } from "../components/data-table.tsx";
import { appendEvents, type LedgerRow, type LoadedEvents, refreshEvents } from "../ledger.ts";
import { useLive } from "./use-live.ts";

export type LedgerFilter = Readonly<Partial<Record<"search" | "type" | "target" | "incident" | "execution", string>>>;

const pageSize = 100;
const refreshMs = 5_000;

/** The events that match a filter, newest first. New ones appear within some seconds. */
export function useLedger(filter: LedgerFilter): TableRows<LedgerRow> {
  const key = JSON.stringify(filter);
  const live = useLive<LoadedEvents>(key, () => ({
    read: (signal) => readRows(filter, { signal }),
    merge: (value) => ({ value, isExact: true }),
    correct: async (list, signal) => refreshEvents(list, await readPage(filter, { signal })),
    everyMs: refreshMs,
  }));
  // The key stands for the filter.
  const loadMore = useMemo(() => {
    let isReading = false;
    return () => {
      const after = live.state.peek().value?.next;
      if (after === undefined || isReading) return;
      isReading = true;
      readRows(filter, { after })
        .then((page) => live.update((list) => appendEvents(list, page)))
        .catch(() => undefined)
        .finally(() => {
          isReading = false;
        });
    };
  }, [key, live]);
  const { value, problem } = live.state.value;
  return {
    rows: value?.rows ?? [],
    isComplete: value !== undefined && value.next === undefined,
    isLoading: value === undefined && problem === undefined,
    problem,
    loadMore,
  };
}

interface PageOptions {
  readonly after?: string | undefined;
  readonly signal?: AbortSignal;
}

/** The next page that has events: the server searches a part of the ledger at a time, and may find nothing in it. */
async function readRows(filter: LedgerFilter, options: PageOptions): Promise<LoadedEvents> {
  let page = await readPage(filter, options);
  while (page.rows.length === 0 && page.next !== undefined) {
    page = await readPage(filter, { ...options, after: page.next });
  }
  return page;
}

async function readPage(filter: LedgerFilter, { after, signal }: PageOptions): Promise<LoadedEvents> {
  const path = withQuery("/ledger", { ...filter, after, limit: pageSize });
  const { events, next } = await getJson<LedgerPage>(path, signal);
  return { rows: events, next };
}
