import type { ExecutionRow } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { Phase } from "../components/badge.tsx";
import type { Column } from "../components/data-table.tsx";
import { phaseChoice } from "../components/filter-bar.tsx";
import { Link, TargetLink } from "../components/link.tsx";
import { ListPage } from "../components/list-page.tsx";
import { Duration, Time } from "../components/time.tsx";
import { useFilteredRows } from "../live/use-rows.ts";

const columns: readonly Column<ExecutionRow>[] = [
  {
    title: "Workflow",
    width: "18%",
    onPhone: "first line",
    cell: (row) => (
      <Link to={objectPath("executions", row.key)} class="strong" isRow title={row.name}>
        {row.workflow}
      </Link>
    ),
  },
  { title: "Phase", width: "130px", onPhone: "first line", cell: (row) => <Phase phase={row.phase} /> },
  {
    title: "Target",
    width: "20%",
    onPhone: "second line",
    cell: (row) => <TargetLink target={row.target} />,
  },
  {
    title: "Why",
    cell: ({ reason, message }) => (
      <span title={message}>
        {reason} {message !== undefined && <span class="line-sub">{message}</span>}
      </span>
    ),
  },
  {
    title: "Took",
    width: "96px",
    align: "end",
    cell: (row) => <Duration from={row.startedAt} to={row.startedAt && row.endedAt} />,
  },
  {
    title: "Created",
    width: "90px",
    onPhone: "second line",
    cell: (row) => <Time at={row.createdAt} style="relative" />,
  },
];

const choices = [phaseChoice("Pending", "Running", "Completed", "Failed", "Skipped")];

export function ExecutionsPage() {
  const list = useFilteredRows("executions");
  return (
    <ListPage
      title="Executions"
      choices={choices}
      list={list}
      columns={columns}
      none={{ title: "There is no execution yet", command: "interlock run node-disk-cleanup --target node/worker-1" }}
    />
  );
}
