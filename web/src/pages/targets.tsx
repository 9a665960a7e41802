import type { TargetRow } from "../../../src/console/wire.ts";
import type { Column } from "../components/data-table.tsx";
import { ObjectLink, TargetLink, WaitingLink } from "../components/link.tsx";
import { ListPage } from "../components/list-page.tsx";
import { Duration } from "../components/time.tsx";
import { useFilteredRows } from "../live/use-rows.ts";

const columns: readonly Column<TargetRow>[] = [
  {
    title: "Target",
    onPhone: "first line",
    cell: (row) => <TargetLink target={row.target} isRow />,
  },
  {
    title: "Holder",
    width: "30%",
    onPhone: "second line",
    cell: ({ holder }) =>
      holder === undefined ? <span class="muted">free</span> : <ObjectLink kind="executions" of={holder} />,
  },
  { title: "Held for", width: "110px", align: "end", cell: (row) => row.holder && <Duration from={row.heldSince} /> },
  { title: "Fence", width: "160px", align: "end", cell: (row) => <span class="number">{row.fence ?? ""}</span> },
  {
    title: "Waiting",
    width: "90px",
    align: "end",
    onPhone: "first line",
    cell: (row) => row.waiting > 0 && <WaitingLink target={row.target} count={row.waiting} />,
  },
];

export function TargetsPage() {
  const list = useFilteredRows("targets");
  return (
    <ListPage
      title="Targets"
      caption="Targets that automation has acted on"
      list={list}
      columns={columns}
      none={{ title: "Automation has not acted on any target yet", command: "interlock why node/worker-1" }}
    />
  );
}
