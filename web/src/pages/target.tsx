import type { Changes, TargetDetail } from "../../../src/console/wire.ts";
import { withQuery } from "../api.ts";
import { Badge } from "../components/badge.tsx";
import { ChecksTable } from "../components/checks-table.tsx";
import { Loading } from "../components/data-table.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ExecutionLines } from "../components/execution-lines.tsx";
import { IncidentLines } from "../components/incident-line.tsx";
import { ObjectLink, WaitingLink } from "../components/link.tsx";
import { OperationButton } from "../components/operation-button.tsx";
import { Facts, PageHeader, Panel } from "../components/panel.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { Countdown, Duration, Sentence } from "../components/time.tsx";
import { TimelineView } from "../components/timeline-view.tsx";
import { useDetail } from "../live/use-live.ts";
import { location } from "../router.ts";

/** One target: its holder, its history, and whether each workflow may act on it now. */
export function TargetPage() {
  const target = location.value.query.get("target") ?? "";
  const { value: detail, problem } = useDetail<TargetDetail>(withQuery("/targets/detail", { target }), concernsTarget);
  return (
    <>
      <PageHeader
        title={target}
        aside={
          detail && (
            <OperationButton
              operation="pause"
              subject={target}
              request={{ scope: ["target", target] }}
              label="Pause…"
            />
          )
        }
      />
      {problem && <ProblemNotice problem={problem} />}
      {detail ? <Target detail={detail} /> : problem === undefined && <Loading />}
    </>
  );
}

function concernsTarget({ changed, removed }: Changes, { target, row, incidents, executions }: TargetDetail): boolean {
  const keys = new Set([row?.key, ...incidents.map(({ key }) => key), ...executions.map(({ key }) => key)]);
  return (
    changed.some(
      (other) => keys.has(other.key) || other.kind === "pauses" || ("target" in other && other.target === target),
    ) || removed.some(({ key }) => keys.has(key))
  );
}

function Target({ detail }: { readonly detail: TargetDetail }) {
  const { incidents, executions, workflows, otherWorkflows, events, target } = detail;
  return (
    <>
      <Panel title="Holder" isPadded>
        <Holder detail={detail} />
      </Panel>
      <Panel title="Timeline" isPadded>
        {events.length > 0 ? (
          <TimelineView events={events} label={`What happened to ${target}`} />
        ) : (
          <EmptyState title="Nothing has happened to this target yet" command={`interlock why ${target}`} />
        )}
      </Panel>
      <Panel title="May a workflow act now?" count={workflows.length}>
        {workflows.map((workflow) => (
          <WorkflowWhy key={workflow.workflow} workflow={workflow} />
        ))}
        {workflows.length === 0 && <p class="panel-body muted">No workflow acts on targets of this kind.</p>}
        {otherWorkflows.length > 0 && (
          <p class="panel-body muted">For targets of other kinds: {otherWorkflows.join(", ")}</p>
        )}
      </Panel>
      {incidents.length > 0 && (
        <Panel title="Incidents" count={incidents.length}>
          <IncidentLines incidents={incidents} />
        </Panel>
      )}
      {executions.length > 0 && (
        <Panel title="Executions" count={executions.length}>
          <ExecutionLines executions={executions} />
        </Panel>
      )}
    </>
  );
}

function Holder({ detail: { row, executions } }: { readonly detail: TargetDetail }) {
  if (row?.holder === undefined) return <p>No execution holds this target.</p>;
  const holder = executions.find(({ key }) => key === row.holder);
  return (
    <div class="holder">
      <Facts
        facts={[
          ["Held by", <ObjectLink kind="executions" of={row.holder} />],
          ["Workflow", holder?.workflow],
          ["Held for", <Duration from={row.heldSince} />],
          ["Fence", row.fence !== undefined && <span class="number">{row.fence}</span>],
          ["Waiting", row.waiting > 0 && <WaitingLink target={row.target} count={row.waiting} />],
        ]}
      />
      {holder && <OperationButton operation="cancel" subject={`${holder.workflow} on ${holder.target}`} row={holder} />}
    </div>
  );
}

function WorkflowWhy({ workflow }: { readonly workflow: TargetDetail["workflows"][number] }) {
  const { workflow: id, isAllowed, reason, until, checks } = workflow;
  const deciding = checks.find(({ isDeciding }) => isDeciding);
  return (
    <details class="fold">
      <summary>
        <span class="strong">{id}</span>
        <Badge tone={isAllowed ? "good" : "wait"} text={isAllowed ? "may run" : (reason ?? "may not run")} />
        {until !== undefined && !isAllowed && (
          <span>
            <Countdown until={until} prefix="clears in" />
          </span>
        )}
        {deciding && (
          <span class="muted grow ellipsis">
            <Sentence text={deciding.evidence} />
          </span>
        )}
      </summary>
      <ChecksTable checks={checks} caption={`Checks of ${id}`} />
    </details>
  );
}
