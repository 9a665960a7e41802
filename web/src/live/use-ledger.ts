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
  const live = useLive<LoadedEvents>(JSON.stringify(filter), () => ({
    read: (signal) => readRows(filter, { signal }),
    merge: (value) => ({ value, isExact: true }),
    async correct(signal) {
      const page = await readPage(filter, { signal });
      return (list) => refreshEvents(list, page);
    },
    async readMore({ next }, signal) {
      if (next === undefined) return (list) => list;
      const page = await readRows(filter, { after: next, signal });
      return (list) => appendEvents(list, page);
    },
    everyMs: refreshMs,
  }));
  const { value, problem } = live.state.value;
  return {
    rows: value?.rows ?? [],
    isComplete: value !== undefined && value.next === undefined,
    isLoading: value === undefined && problem === undefined,
    problem,
    loadMore: live.loadMore,
  };
}

interface PageOptions {
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
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
  return { rows: events.map((event) => ({ ...event, key: event.id })), next };
}
