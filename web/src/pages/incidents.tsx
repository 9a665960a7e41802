import { type IncidentRow, lanes } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { Badge, Phase, Severity } from "../components/badge.tsx";
import { type Column, DataTable } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { FilterBar, type FilterChoice } from "../components/filter-bar.tsx";
import { Link } from "../components/link.tsx";
import { PageHeader } from "../components/panel.tsx";
import { Countdown, Sentence, Time } from "../components/time.tsx";
import { laneTexts } from "../lanes.ts";
import { filterFromQuery } from "../live/filter.ts";
import { useRows } from "../live/use-rows.ts";
import { location, targetPath } from "../router.ts";

const columns: readonly Column<IncidentRow>[] = [
  {
    title: "Signal",
    width: "22%",
    onPhone: "first line",
    cell: (row) => (
      <>
        <Link to={objectPath("incidents", row.key)} class="strong" isRow title={row.name}>
          {row.signal}
        </Link>
        {row.target !== undefined && row.subject !== row.target && <span class="line-sub mono">{row.subject}</span>}
      </>
    ),
  },
  { title: "Severity", width: "88px", cell: (row) => <Severity severity={row.severity} /> },
  { title: "Phase", width: "154px", onPhone: "first line", cell: (row) => <Phase phase={row.phase} /> },
  {
    title: "Target",
    width: "17%",
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
  { title: "Why", cell: (row) => <Why row={row} /> },
  { title: "Next change", width: "112px", cell: (row) => <NextChange row={row} /> },
  {
    title: "Opened",
    width: "84px",
    onPhone: "second line",
    cell: (row) => <Time at={row.createdAt} style="relative" />,
  },
];

/** The phase has a column of its own. */
function Why({ row: { outcome, reason, message } }: { readonly row: IncidentRow }) {
  const [first, ...others] = [outcome ?? reason, message].filter((text) => text !== undefined);
  return (
    <span title={[first, ...others].join(": ")}>
      {first !== undefined && <Sentence text={first} />}
      {others.map((text) => (
        <span key={text} class="line-sub">
          <Sentence text={text} />
        </span>
      ))}
    </span>
  );
}

/** When it moves on by itself, or its place in the queue. */
function NextChange({ row }: { readonly row: IncidentRow }) {
  if (row.closedAt !== undefined)
    return (
      <span class="muted">
        closed <Time at={row.closedAt} style="relative" />
      </span>
    );
  if (row.until !== undefined) return <Countdown until={row.until} />;
  if (row.position !== undefined) return <Badge tone="wait" text={`queue: ${row.position}`} />;
  return <span class="muted">–</span>;
}

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
