import { useMemo, useState } from "preact/hooks";
import type { Changes, IncidentDetail, NoticeRow } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { ApprovalFacts } from "../components/approval-facts.tsx";
import { Badge, Phase, Severity } from "../components/badge.tsx";
import { Chart } from "../components/chart.tsx";
import { ChecksTable } from "../components/checks-table.tsx";
import { Loading } from "../components/data-table.tsx";
import { Command } from "../components/empty-state.tsx";
import { ExecutionLines } from "../components/execution-lines.tsx";
import { IncidentCountdown, IncidentLines } from "../components/incident-line.tsx";
import { ObjectLink, OutsideLink, TargetLink } from "../components/link.tsx";
import { NextStep } from "../components/next-step.tsx";
import { Facts, PageHeader, Panel } from "../components/panel.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { StateMachine } from "../components/state-machine.tsx";
import { Sentence, Time } from "../components/time.tsx";
import { TimelineView } from "../components/timeline-view.tsx";
import { formatCount } from "../format.ts";
import { useDetail } from "../live/use-live.ts";
import type { PageProps } from "../router.ts";
import { serverNow } from "../time.ts";
import { countByTime, fullRange } from "../timeline.ts";

export function IncidentPage({ parameters: { namespace, name = "" } }: PageProps) {
  const key = `${namespace}/${name}`;
  const { value: detail, problem } = useDetail<IncidentDetail>(objectPath("incidents", key), concernsIncident);
  return (
    <>
      <PageHeader title={detail?.row.signal ?? name} aside={detail && <NextStep row={detail.row} />}>
        {detail && <Subtitle detail={detail} />}
      </PageHeader>
      {problem && <ProblemNotice problem={problem} />}
      {detail ? <Incident detail={detail} /> : problem === undefined && <Loading />}
    </>
  );
}

/** Changes of the incident, its executions, its target and approval, and of the incidents that share its run. */
function concernsIncident({ changed, removed }: Changes, { row, executions, followers }: IncidentDetail): boolean {
  const keys = new Set([
    row.key,
    row.execution,
    row.approval,
    ...executions.map(({ key }) => key),
    ...followers.map(({ key }) => key),
  ]);
  const isRelated = (other: Changes["changed"][number]) =>
    keys.has(other.key) ||
    other.kind === "pauses" ||
    ("incident" in other && other.incident === row.key) ||
    ("target" in other && other.target !== undefined && other.target === row.target && other.kind !== "incidents");
  return changed.some(isRelated) || removed.some(({ key }) => keys.has(key));
}

function Incident({ detail }: { readonly detail: IncidentDetail }) {
  const { row, checks, executions, followers, notices, events } = detail;
  return (
    <>
      <Panel title="State" aside={<StateText detail={detail} />} isPadded>
        <StateMachine phase={row.phase} />
      </Panel>
      {row.phase === "AwaitingApproval" && row.approval !== undefined && (
        <Panel title="Approval" isPadded>
          <ApprovalFacts of={row.approval} />
        </Panel>
      )}
      <Panel title="Why">
        {checks.length > 0 ? (
          <ChecksTable checks={checks} caption="Checks of the decision" />
        ) : (
          <pre class="panel-body why">{detail.why.join("\n")}</pre>
        )}
        <div class="panel-body">
          <Command text={`interlock why ${row.name}`} />
        </div>
      </Panel>
      <div class="columns">
        <Panel title="Facts" isPadded>
          <IncidentFacts detail={detail} />
        </Panel>
        <Panel title="Occurrences" aside={<Badge tone="neutral" text={`${formatCount(row.seen)} in total`} />} isPadded>
          <Occurrences detail={detail} />
        </Panel>
      </div>
      {executions.length > 0 && (
        <Panel title="Executions" count={executions.length}>
          <ExecutionLines executions={executions} />
        </Panel>
      )}
      {followers.length > 0 && <Followers followers={followers} />}
      <Panel title="Timeline" isPadded>
        <TimelineView events={events} label={`What happened to ${row.name}`} />
      </Panel>
      {notices.length > 0 && (
        <Panel title="Notices" count={notices.length}>
          <Notices notices={notices} />
        </Panel>
      )}
      <Texts title="Labels" texts={detail.labels} />
      <Texts title="Annotations" texts={detail.annotations} />
    </>
  );
}

/** A storm has dozens that differ in their names only. */
const shownFollowers = 8;

function Followers({ followers }: Pick<IncidentDetail, "followers">) {
  const [isComplete, setComplete] = useState(followers.length <= shownFollowers);
  return (
    <Panel
      title="Incidents that follow the same run"
      count={followers.length}
      aside={
        !isComplete && (
          <button type="button" class="button small quiet panel-more" onClick={() => setComplete(true)}>
            Show all {formatCount(followers.length)}
          </button>
        )
      }
    >
      <IncidentLines incidents={isComplete ? followers : followers.slice(0, shownFollowers)} />
    </Panel>
  );
}

function Subtitle({ detail: { row } }: { readonly detail: IncidentDetail }) {
  return (
    <p class="subtitle">
      <Phase phase={row.phase} /> <Severity severity={row.severity} />
      <span class="mono muted" title={row.key}>
        {row.name}
      </span>
      {row.target !== undefined && <TargetLink target={row.target} />}
    </p>
  );
}

function StateText({ detail: { row, message } }: { readonly detail: IncidentDetail }) {
  return (
    <span class="state-text">
      {row.outcome ?? row.reason}
      {message !== undefined && (
        <span class="muted">
          {" "}
          <Sentence text={message} />
        </span>
      )}
      {row.until !== undefined && row.closedAt === undefined && (
        <>
          {" "}
          · <IncidentCountdown until={row.until} lane={row.lane} />
        </>
      )}
    </span>
  );
}

function IncidentFacts({ detail: { row } }: { readonly detail: IncidentDetail }) {
  return (
    <Facts
      facts={[
        ["Subject", <span class="mono">{row.subject}</span>],
        ["Workflow", row.workflow],
        ["Rule", row.rule],
        ["Execution", row.execution !== undefined && <ObjectLink kind="executions" of={row.execution} />],
        ["Place in the queue", row.position],
        ["Attempt", row.attempt && `${row.attempt.number} of ${row.attempt.of}`],
        ["Opened", <Time at={row.createdAt} />],
        ["Last reported", row.lastSeenAt !== undefined && <Time at={row.lastSeenAt} style="relative" />],
        ["Closed", row.closedAt !== undefined && <Time at={row.closedAt} />],
      ]}
    />
  );
}

const buckets = 48;

function Occurrences({ detail: { events, series, row } }: { readonly detail: IncidentDetail }) {
  const { starts, counts } = useMemo(() => {
    const counted = events.filter(({ signals = 0 }) => signals > 0);
    const points =
      counted.length > 0
        ? counted.map(({ at, signals = 0 }) => ({ at: Date.parse(at), count: signals }))
        : series.map(({ firingAt }) => ({ at: Date.parse(firingAt), count: 1 }));
    const range = fullRange(counted, serverNow());
    return countByTime(points, { ...range, from: Math.min(range.from, Date.parse(row.createdAt)) }, buckets);
  }, [events, series, row.createdAt]);
  const firing = series.filter(({ resolvedAt }) => resolvedAt === undefined).length;
  return (
    <>
      <Chart label="Signals over time" tone="active" times={starts} values={counts} />
      {series.length > 0 && (
        <p class="muted">
          Firing: {firing} of {series.length} series
        </p>
      )}
    </>
  );
}

function Notices({ notices }: { readonly notices: readonly NoticeRow[] }) {
  return (
    <ul class="events panel-body">
      {notices.map((notice) => (
        <li key={notice.key} class="event">
          <Time at={notice.createdAt} />
          <Phase phase={notice.phase} />
          <span class="grow">
            <Sentence text={notice.subject} />
            {notice.channels.length > 0 && <span class="muted"> · to {notice.channels.join(", ")}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Texts of the sender. Web addresses become links. */
function Texts({ title, texts }: { readonly title: string; readonly texts: Readonly<Record<string, string>> }) {
  const entries = Object.entries(texts);
  if (entries.length === 0) return null;
  return (
    <Panel title={title} isPadded>
      <Facts isWide facts={entries.map(([name, text]) => [name, <OutsideLink address={text} />])} />
    </Panel>
  );
}
