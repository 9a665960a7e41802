import type { PauseRow } from "../../../src/console/wire.ts";
import { withQuery } from "../api.ts";
import type { Column } from "../components/data-table.tsx";
import type { FilterChoice } from "../components/filter-bar.tsx";
import { Link } from "../components/link.tsx";
import { ListPage } from "../components/list-page.tsx";
import { OperationButton } from "../components/operation-button.tsx";
import { Countdown, Duration, Time } from "../components/time.tsx";
import { formatCount } from "../format.ts";
import { useFilteredRows } from "../live/use-rows.ts";

const columns: readonly Column<PauseRow>[] = [
  {
    title: "Scope",
    width: "22%",
    onPhone: "first line",
    cell: (row) => (
      <span class="strong" title={row.name}>
        {row.scope}
      </span>
    ),
  },
  { title: "Reason", onPhone: "second line", cell: (row) => <span title={row.reason}>{row.reason}</span> },
  { title: "Author", width: "16%", cell: (row) => row.author },
  { title: "Age", width: "90px", align: "end", cell: (row) => <Duration from={row.createdAt} to={row.endedAt} /> },
  { title: "Holds back", width: "100px", align: "end", onPhone: "second line", cell: (row) => <HeldBack row={row} /> },
  { title: "Ends", width: "124px", cell: (row) => <PauseEnd row={row} /> },
  {
    title: "Actions",
    width: "110px",
    align: "end",
    onPhone: "first line",
    cell: (row) => row.endedAt === undefined && <OperationButton operation="resume" subject={row.scope} row={row} />,
  },
];

/** The number of incidents that a pause holds back; none after its end. */
function HeldBack({ row }: { readonly row: PauseRow }) {
  if (row.endedAt !== undefined) return null;
  return (
    <>
      <span class="phone-only">holds back </span>
      {row.suppressed === 0 ? (
        <span class="muted">0</span>
      ) : (
        <Link to={withQuery("/incidents", { lane: "paused", ...scopeFilter(row.scope) })} class="number">
          {formatCount(row.suppressed)}
        </Link>
      )}
    </>
  );
}

/** The incidents within a scope: "target node/worker-1" is the filter `target`. */
function scopeFilter(scope: string): Readonly<Record<string, string>> {
  const [kind = "", name] = scope.split(" ");
  return name === undefined ? {} : { [kind]: name };
}

function PauseEnd({ row: { endedAt, until } }: { readonly row: PauseRow }) {
  if (endedAt !== undefined)
    return (
      <span class="muted">
        ended <Time at={endedAt} style="relative" />
      </span>
    );
  if (until === undefined) return <span class="muted">when resumed</span>;
  return <Countdown until={until} />;
}

const choices: readonly FilterChoice[] = [
  {
    name: "phase",
    label: "State",
    defaultLabel: "Active",
    options: [
      { value: "Ended", label: "Ended" },
      { value: "Active,Ended", label: "All pauses" },
    ],
  },
];

/** The pauses of automation, with reason and number of incidents that each holds back. */
export function PausesPage() {
  const list = useFilteredRows("pauses", { phase: "Active" });
  return (
    <ListPage
      title="Pauses"
      aside={<OperationButton operation="pause" subject="automation" label="Pause…" />}
      choices={choices}
      list={list}
      columns={columns}
      none={{
        title: "Automation is not paused anywhere",
        command: 'interlock pause namespace payment --for 2h --reason "release 4"',
      }}
    />
  );
}
