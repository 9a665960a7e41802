import type { TaskRow } from "../../../src/console/wire.ts";
import { Phase } from "../components/badge.tsx";
import type { Column } from "../components/data-table.tsx";
import { phaseChoice } from "../components/filter-bar.tsx";
import { ListPage } from "../components/list-page.tsx";
import { OperationButton } from "../components/operation-button.tsx";
import { Time } from "../components/time.tsx";
import { useFilteredRows } from "../live/use-rows.ts";

const columns: readonly Column<TaskRow>[] = [
  {
    title: "Task",
    width: "26%",
    onPhone: "first line",
    cell: (row) => (
      <span title={row.name}>
        {row.project}
        <span class="strong">{row.reference}</span>
      </span>
    ),
  },
  { title: "Type", width: "120px", cell: (row) => row.type },
  { title: "Phase", width: "130px", onPhone: "first line", cell: (row) => <Phase phase={row.phase} /> },
  { title: "Author", width: "12%", cell: (row) => row.author },
  { title: "Message", onPhone: "second line", cell: (row) => <span title={row.message}>{row.message ?? ""}</span> },
  {
    title: "Received",
    width: "100px",
    onPhone: "second line",
    cell: (row) => <Time at={row.createdAt} style="relative" />,
  },
  {
    title: "Actions",
    width: "100px",
    align: "end",
    cell: (row) =>
      row.endedAt === undefined && (
        <OperationButton operation="cancel" subject={`${row.type} of ${row.project}${row.reference}`} row={row} />
      ),
  },
];

const choices = [phaseChoice("Pending", "Waiting", "Running", "Completed", "Failed", "Superseded", "Cancelled")];

/** The tasks of the agent, and their progress. */
export function TasksPage() {
  const list = useFilteredRows("tasks");
  return (
    <ListPage
      title="Coding tasks"
      choices={choices}
      list={list}
      columns={columns}
      none={{
        title: "There is no coding task",
        command: "interlock get tasks",
        hint: "Tasks come from merge requests and issues that mention the agent, see docs/agent.md.",
      }}
    />
  );
}
