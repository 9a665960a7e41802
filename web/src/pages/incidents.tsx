import { type IncidentRow, lanes, laneTitles } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { Phase } from "../components/badge.tsx";
import type { Column } from "../components/data-table.tsx";
import { type FilterChoice, phaseChoice } from "../components/filter-bar.tsx";
import { IncidentCountdown, QueuePlace } from "../components/incident-line.tsx";
import { Link, TargetLink } from "../components/link.tsx";
import { ListPage } from "../components/list-page.tsx";
import { Sentence, Time } from "../components/time.tsx";
import { useFilteredRows } from "../live/use-rows.ts";
import { severityTone } from "../tones.ts";

const columns: readonly Column<IncidentRow>[] = [
  {
    title: "Signal",
    width: "22%",
    onPhone: "first line",
    cell: (row) => (
      <>
        <span class="severity" data-tone={severityTone(row.severity)}>
          <Link to={objectPath("incidents", row.key)} class="strong" isRow title={row.name}>
            {row.signal}
          </Link>
        </span>
        {row.severity !== "unknown" && <span class="line-sub">{row.severity}</span>}
        {row.target !== undefined && row.subject !== row.target && <span class="line-sub mono">{row.subject}</span>}
      </>
    ),
  },
  { title: "Phase", width: "160px", onPhone: "first line", cell: (row) => <Phase phase={row.phase} /> },
  {
    title: "Target",
    width: "18%",
    onPhone: "second line",
    cell: (row) =>
      row.target === undefined ? <span class="mono muted">{row.subject}</span> : <TargetLink target={row.target} />,
  },
  { title: "Why", cell: (row) => <Why row={row} /> },
  { title: "Next change", width: "142px", cell: (row) => <NextChange row={row} /> },
  {
    title: "Opened",
    width: "96px",
    onPhone: "second line",
    cell: (row) => <Time at={row.createdAt} style="relative" />,
  },
];

/** The phase has a column of its own. */
function Why({ row: { outcome, reason, message } }: { readonly row: IncidentRow }) {
  const short = outcome ?? reason;
  return (
    <span title={[short, message].filter((text) => text !== undefined).join(": ")}>
      {short}{" "}
      {message !== undefined && (
        <span class={short === undefined ? undefined : "line-sub"}>
          <Sentence text={message} />
        </span>
      )}
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
  if (row.until !== undefined) return <IncidentCountdown until={row.until} lane={row.lane} />;
  if (row.position !== undefined) return <QueuePlace position={row.position} />;
  return <span class="muted">–</span>;
}

const choices: readonly FilterChoice[] = [
  { name: "lane", label: "Lane", options: lanes.map((lane) => ({ value: lane, label: laneTitles[lane] })) },
  phaseChoice(
    "Pending",
    "Analyzing",
    "AwaitingApproval",
    "Executing",
    "Verifying",
    "Blocked",
    "Completed",
    "Failed",
    "Withdrawn",
  ),
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
  const list = useFilteredRows("incidents");
  return (
    <ListPage
      title="Incidents"
      choices={choices}
      list={list}
      columns={columns}
      none={{
        title: "There is no incident",
        command: "interlock receive alertmanager -p examples/node-disk-pressure.json",
        hint: "A signal opens one.",
      }}
    />
  );
}
