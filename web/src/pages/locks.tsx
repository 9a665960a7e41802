import { useMemo } from "preact/hooks";
import type { Lock } from "../../../src/console/wire.ts";
import { Badge } from "../components/badge.tsx";
import { type Column, DataTable } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FilterBar } from "../components/filter-bar.tsx";
import { PageHeader } from "../components/panel.tsx";
import { Countdown, Duration } from "../components/time.tsx";
import { formatCount } from "../format.ts";
import { usePolled } from "../live/use-polled.ts";
import { orderLocks } from "../locks.ts";
import { location } from "../router.ts";

const columns: readonly Column<Lock>[] = [
  {
    title: "Lock",
    width: "34%",
    onPhone: "first line",
    cell: ({ key }) => (
      <span class="strong mono" title={key}>
        {key}
      </span>
    ),
  },
  {
    title: "Holder",
    onPhone: "second line",
    cell: ({ holder }) =>
      holder === undefined ? (
        <span class="muted">free</span>
      ) : (
        <span class="mono" title={holder}>
          {holder}
        </span>
      ),
  },
  {
    title: "Waiters",
    width: "90px",
    align: "end",
    onPhone: "first line",
    cell: ({ waiters }) =>
      waiters > 0 ? <Badge tone="wait" text={formatCount(waiters)} /> : <span class="muted">0</span>,
  },
  { title: "Fence", width: "110px", align: "end", cell: ({ fence }) => <span class="number">{fence ?? ""}</span> },
  {
    title: "Age",
    width: "100px",
    align: "end",
    onPhone: "second line",
    cell: ({ holder, since }) => holder !== undefined && <Duration from={since} />,
  },
  {
    title: "Expires",
    width: "110px",
    align: "end",
    cell: ({ expiresAt }) => expiresAt !== undefined && <Countdown until={expiresAt} />,
  },
];

/** Who holds what, since when, and how many wait for it. */
export function LocksPage() {
  const { value: locks, problem } = usePolled<readonly Lock[]>("/locks", 2_000);
  const search = location.value.query.get("search") ?? "";
  const rows = useMemo(() => orderLocks(locks ?? [], search), [locks, search]);
  return (
    <>
      <PageHeader title="Locks" />
      <FilterBar />
      <DataTable
        caption="Locks, those with waiters first"
        list={{
          rows,
          total: rows.length,
          isComplete: true,
          isLoading: locks === undefined && problem === undefined,
          problem,
        }}
        columns={columns}
        empty={
          <EmptyState title={search ? "No lock matches" : "Nothing is locked"} command="interlock get targets">
            A lock is held while an execution acts on its target, or while a replica works alone.
          </EmptyState>
        }
      />
    </>
  );
}
