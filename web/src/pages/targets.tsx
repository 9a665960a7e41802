import type { TargetRow } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { Badge } from "../components/badge.tsx";
import type { Column } from "../components/data-table.tsx";
import { Link } from "../components/link.tsx";
import { ListPage } from "../components/list-page.tsx";
import { Duration } from "../components/time.tsx";
import { formatCount, shortName } from "../format.ts";
import { filterFromQuery } from "../live/filter.ts";
import { useRows } from "../live/use-rows.ts";
import { location, targetPath } from "../router.ts";

const columns: readonly Column<TargetRow>[] = [
  {
    title: "Target",
    onPhone: "first line",
    cell: (row) => (
      <Link to={targetPath(row.target)} class="strong mono" isRow>
        {row.target}
      </Link>
    ),
  },
  {
    title: "Holder",
    width: "30%",
    onPhone: "second line",
    cell: (row) =>
      row.holder === undefined ? (
        <span class="muted">free</span>
      ) : (
        <Link to={objectPath("executions", row.holder)} class="mono" title={row.holder}>
          {shortName(row.holder)}
        </Link>
      ),
  },
  { title: "Held", width: "110px", align: "end", cell: (row) => row.holder && <Duration from={row.heldSince} /> },
  { title: "Fence", width: "160px", align: "end", cell: (row) => <span class="number">{row.fence ?? ""}</span> },
  {
    title: "Waiting",
    width: "90px",
    align: "end",
    onPhone: "first line",
    cell: (row) => row.waiting > 0 && <Badge tone="wait" text={formatCount(row.waiting)} />,
  },
];

export function TargetsPage() {
  const list = useRows("targets", filterFromQuery(location.value.query));
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
