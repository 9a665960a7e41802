import { useMemo } from "preact/hooks";
import type { Lock } from "../../../src/console/wire.ts";
import { Badge } from "../components/badge.tsx";
import type { Column } from "../components/data-table.tsx";
import { ObjectLink, TargetLink, WaitingLink } from "../components/link.tsx";
import { ListPage } from "../components/list-page.tsx";
import { Countdown, Duration } from "../components/time.tsx";
import { formatCount } from "../format.ts";
import { usePolled } from "../live/use-live.ts";
import { useRows } from "../live/use-rows.ts";
import { type HeldLock, orderLocks, toHeldLock } from "../locks.ts";
import { location } from "../router.ts";

const columns: readonly Column<HeldLock>[] = [
  {
    title: "Lock",
    width: "28%",
    onPhone: "first line",
    cell: ({ key, execution }) =>
      execution === undefined ? (
        <span class="strong mono" title={key}>
          {key}
        </span>
      ) : (
        <TargetLink target={key} isRow />
      ),
  },
  {
    title: "Holder",
    onPhone: "second line",
    cell: (lock) => <Holder lock={lock} />,
  },
  {
    title: "Waiting",
    width: "90px",
    align: "end",
    onPhone: "first line",
    cell: (lock) => <Waiting lock={lock} />,
  },
  { title: "Fence", width: "145px", align: "end", cell: ({ fence }) => <span class="number">{fence ?? ""}</span> },
  {
    title: "Held for",
    width: "90px",
    align: "end",
    onPhone: "second line",
    cell: ({ holder, since }) => holder !== undefined && <Duration from={since} />,
  },
  {
    title: "Expires",
    width: "90px",
    align: "end",
    cell: ({ expiresAt }) => expiresAt !== undefined && <Countdown until={expiresAt} />,
  },
];

/** Incidents wait for a target, replicas for another lock. */
function Waiting({ lock: { key, execution, waiters } }: { readonly lock: HeldLock }) {
  if (waiters === 0) return <span class="muted">0</span>;
  return execution === undefined ? (
    <Badge tone="wait" text={formatCount(waiters)} />
  ) : (
    <WaitingLink target={key} count={waiters} />
  );
}

function Holder({ lock: { holder, execution } }: { readonly lock: HeldLock }) {
  if (holder === undefined) return <span class="muted">free</span>;
  if (execution !== undefined) return <ObjectLink kind="executions" of={execution} />;
  return (
    <span class="mono" title={holder}>
      {holder}
    </span>
  );
}

/** The holder of each lock, since when, and the number of waiters. */
export function LocksPage() {
  const { value: locks, problem } = usePolled<readonly Lock[]>("/locks", 2_000);
  const targets = useRows("targets", { phase: "Held" });
  const search = location.value.query.get("search") ?? "";
  const rows = useMemo(
    () => orderLocks([...targets.rows.map(toHeldLock), ...(locks ?? [])], search),
    [targets.rows, locks, search],
  );
  return (
    <ListPage
      title="Locks"
      caption="Locks, those with waiters first"
      list={{
        rows,
        total: rows.length,
        isComplete: targets.isComplete,
        isLoading: targets.isLoading || (locks === undefined && problem === undefined),
        problem: problem ?? targets.problem,
        loadMore: targets.loadMore,
      }}
      columns={columns}
      none={{
        title: "Nothing is locked",
        command: "interlock get targets",
        hint: "A lock is held while an execution acts on its target, or while a replica works alone.",
      }}
    />
  );
}
