import { type IncidentRow, lanes } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { Phase, Severity } from "../components/badge.tsx";
import { type Column, DataTable } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FilterBar, type FilterChoice } from "../components/filter-bar.tsx";
import { IncidentReason, IncidentWhen } from "../components/incident-line.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader } from "../components/panel.tsx";
import { Time } from "../components/time.tsx";
import { laneTexts } from "../lanes.ts";
import { filterFromQuery } from "../live/filter.ts";
import { useRows } from "../live/use-rows.ts";
import { location, targetPath } from "../router.ts";

const columns: readonly Column<IncidentRow>[] = [
  {
    title: "Signal",
    width: "19%",
    onPhone: "first line",
    cell: (row) => (
      <Link to={objectPath("incidents", row.key)} class="strong" isRow title={row.name}>
        {row.signal}
      </Link>
    ),
  },
  { title: "Severity", width: "104px", cell: (row) => <Severity severity={row.severity} /> },
  { title: "Phase", width: "164px", onPhone: "first line", cell: (row) => <Phase phase={row.phase} /> },
  {
    title: "Target",
    width: "18%",
    onPhone: "second line",
    cell: (row) =>
      row.target === undefined ? (
        <span class="mono muted">{row.subject}</span>
      ) : (
        <Link to={targetPath(row.target)} class="mono">
          {row.target}
        </Link>
      ),
  },
  { title: "Why", cell: (row) => <IncidentReason row={row} /> },
  { title: "Next change", width: "150px", cell: (row) => <IncidentWhen row={row} /> },
  {
    title: "Opened",
    width: "100px",
    onPhone: "second line",
    cell: (row) => <Time at={row.createdAt} style="relative" />,
  },
];

const choices: readonly FilterChoice[] = [
  { name: "lane", label: "Lane", options: lanes.map((lane) => ({ value: lane, label: laneTexts[lane].title })) },
  {
    name: "phase",
    label: "Phase",
    options: [
      "Pending",
      "Analyzing",
      "AwaitingApproval",
      "Executing",
      "Verifying",
      "Blocked",
      "Completed",
      "Failed",
      "Withdrawn",
    ].map((phase) => ({ value: phase, label: phase })),
  },
  {
    name: "since",
    label: "Changed",
    options: [
      { value: "1h", label: "in the last hour" },
      { value: "24h", label: "in the last day" },
      { value: "168h", label: "in the last week" },
    ],
  },
];

export function IncidentsPage() {
  const list = useRows("incidents", filterFromQuery(location.value.query));
  return (
    <>
      <PageHeader title="Incidents" />
      <FilterBar choices={choices} />
      <DataTable
        caption="Incidents, newest first"
        list={list}
        columns={columns}
        empty={<EmptyState title="No incident matches" command="interlock get incidents" />}
      />
    </>
  );
}
