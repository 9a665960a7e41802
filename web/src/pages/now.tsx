import { Fragment } from "preact";
import {
  type ApprovalRow,
  type ExecutionRow,
  type IncidentRow,
  type Lane,
  laneTitles,
  type Now,
  type PauseRow,
} from "../../../src/console/wire.ts";
import { getJson, withQuery } from "../api.ts";
import { ApprovalLine } from "../components/approval-line.tsx";
import { Badge } from "../components/badge.tsx";
import { Loading } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ExecutionLines } from "../components/execution-lines.tsx";
import { IncidentLine } from "../components/incident-line.tsx";
import { Link } from "../components/link.tsx";
import { OperationButton } from "../components/operation-button.tsx";
import { PageHeader, Panel } from "../components/panel.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { Countdown, Time } from "../components/time.tsx";
import { formatCount, formatQuantity } from "../format.ts";
import { groupRows, laneTexts, sortLane } from "../lanes.ts";
import { mergeNow } from "../live/merge.ts";
import { type LiveState, useLive } from "../live/use-live.ts";

/** A lane shows its first rows, with a link to all. The lane of incidents that need an operator is never shortened. */
const shownRows = 8;
const shownPauses = 3;

/** The open incidents in lanes, those that need an operator first. */
export function NowPage() {
  const { value: now, problem } = useNow();
  return (
    <>
      <PageHeader title="Now" aside={<OperationButton operation="pause" subject="automation" label="Pause…" />} />
      {problem && <ProblemNotice problem={problem} />}
      {now ? <Lanes now={now} /> : problem === undefined && <Loading />}
    </>
  );
}

function Lanes({ now }: { readonly now: Now }) {
  const { pauses, approvals, executions } = now;
  const isEmpty = now.lanes.every(({ total }) => total === 0) && approvals.length + executions.length === 0;
  return (
    <>
      <ul class="summary" aria-label="Incidents by lane">
        {now.lanes.map(({ lane, total }) => (
          <li key={lane}>
            <Link to={withQuery("/incidents", { lane })} class="summary-link" title={laneTexts[lane].meaning}>
              <span class="summary-count" data-tone={total > 0 ? laneTexts[lane].tone : "none"}>
                {formatCount(total)}
              </span>
              <span class="summary-title">{laneTitles[lane]}</span>
            </Link>
          </li>
        ))}
      </ul>
      {pauses.length > 0 && <ActivePauses pauses={pauses} />}
      {isEmpty && (
        <EmptyState
          title="Nothing is open"
          command="interlock receive alertmanager -p examples/node-disk-pressure.json"
        >
          Incidents appear here as soon as a signal arrives.
        </EmptyState>
      )}
      {now.lanes.map(({ lane, total, rows }) => (
        <Fragment key={lane}>
          {total > 0 && <LanePanel lane={lane} total={total} rows={rows} />}
          {lane === "needsYou" && approvals.length > 0 && <OtherApprovals approvals={approvals} />}
          {lane === "running" && executions.length > 0 && <OtherExecutions executions={executions} />}
        </Fragment>
      ))}
    </>
  );
}

interface LanePanelProps {
  readonly lane: Lane;
  readonly total: number;
  readonly rows: readonly IncidentRow[];
}

function LanePanel({ lane, total, rows }: LanePanelProps) {
  const { meaning, tone } = laneTexts[lane];
  const title = laneTitles[lane];
  const sorted = sortLane(lane, rows);
  // Each incident that needs an operator has a decision of its own.
  const groups = lane === "needsYou" ? sorted.map((row) => ({ row, count: 1 })) : groupRows(sorted).slice(0, shownRows);
  const shownCount = groups.reduce((sum, { count }) => sum + count, 0);
  return (
    <Panel
      title={title}
      aside={
        <>
          <Badge tone={tone} text={formatCount(total)} />
          <span class="muted panel-meaning">{meaning}</span>
          {total > shownCount && (
            <Link to={withQuery("/incidents", { lane })} class="panel-more">
              Show all {formatCount(total)}
            </Link>
          )}
        </>
      }
    >
      <ul class="lines" data-lane={lane}>
        {groups.map(({ row, count }) => (
          <IncidentLine
            key={row.key}
            row={row}
            count={count === 1 ? undefined : `${formatCount(count)}${total > rows.length ? "+" : ""}`}
          />
        ))}
      </ul>
    </Panel>
  );
}

function ActivePauses({ pauses }: { readonly pauses: readonly PauseRow[] }) {
  return (
    <section class="notice" data-tone="wait" aria-label="Active pauses">
      {pauses.slice(0, shownPauses).map((pause) => (
        <div key={pause.key} class="notice-row">
          <p class="grow">
            <strong>Automation is paused: {pause.scope}.</strong> {pause.reason}
            <span class="muted">
              {" "}
              · by {pause.author}, <Time at={pause.createdAt} style="relative" /> · holds back{" "}
              {formatQuantity(pause.suppressed, "incident")}
            </span>
          </p>
          {pause.until !== undefined && <Countdown until={pause.until} prefix="ends in" />}
          <OperationButton operation="resume" subject={pause.scope} row={pause} />
        </div>
      ))}
      {pauses.length > shownPauses && <Link to="/pauses">See all {formatCount(pauses.length)} pauses</Link>}
    </section>
  );
}

/** Requested runs without an incident that wait for an approval. */
function OtherApprovals({ approvals }: { readonly approvals: readonly ApprovalRow[] }) {
  return (
    <Panel
      title="Needs you, without an incident"
      aside={
        <>
          <Badge tone="bad" text={formatCount(approvals.length)} />
          <span class="muted panel-meaning">Requested runs that wait for an approval</span>
        </>
      }
    >
      <ul class="lines">
        {approvals.map((row) => (
          <ApprovalLine key={row.key} row={row} />
        ))}
      </ul>
    </Panel>
  );
}

function OtherExecutions({ executions }: { readonly executions: readonly ExecutionRow[] }) {
  return (
    <Panel title="Running without an incident" aside={<Badge tone="active" text={formatCount(executions.length)} />}>
      <ExecutionLines executions={executions} />
    </Panel>
  );
}

/** The server sends no more rows of a lane. */
const maxRows = 50;

/** The lanes of the page Now, kept current by the stream. */
function useNow(): LiveState<Now> {
  const live = useLive<Now>("now", () => ({
    read: (signal) => getJson<Now>("/now", signal),
    merge: (now, changes) => mergeNow(now, changes, maxRows),
  }));
  return live.state.value;
}
