import type { Changes, ExecutionDetail } from "../../../src/console/wire.ts";
import { objectPath } from "../api.ts";
import { Phase } from "../components/badge.tsx";
import { Loading } from "../components/data-table.tsx";
import { Command } from "../components/empty-state.tsx";
import { ExecutionSteps } from "../components/execution-lines.tsx";
import { ObjectLink, TargetLink } from "../components/link.tsx";
import { LogView } from "../components/log-view.tsx";
import { Facts, PageHeader, Panel } from "../components/panel.tsx";
import { ProblemNotice } from "../components/problem-notice.tsx";
import { TaskGraph } from "../components/task-graph.tsx";
import { Duration, Sentence, Time } from "../components/time.tsx";
import { useDetail } from "../live/use-live.ts";
import type { PageProps } from "../router.ts";

export function ExecutionPage({ parameters: { namespace, name = "" } }: PageProps) {
  const path = objectPath("executions", `${namespace}/${name}`);
  const { value: detail, problem } = useDetail<ExecutionDetail>(path, concernsExecution);
  return (
    <>
      <PageHeader title={detail?.row.workflow ?? name} aside={detail && <ExecutionSteps row={detail.row} />}>
        {detail && <Subtitle detail={detail} />}
      </PageHeader>
      {problem && <ProblemNotice problem={problem} />}
      {detail ? <Execution detail={detail} logs={`${path}/logs`} /> : problem === undefined && <Loading />}
    </>
  );
}

function concernsExecution({ changed, removed }: Changes, { row }: ExecutionDetail): boolean {
  return [...changed, ...removed].some(({ kind, key }) => kind === "executions" && key === row.key);
}

function Execution({ detail, logs }: { readonly detail: ExecutionDetail; readonly logs: string }) {
  const { row, tasks, failure, parameters } = detail;
  const given = Object.entries(parameters);
  return (
    <>
      {(failure ?? row.message) !== undefined && (
        <div class="notice" data-tone={row.phase === "Failed" ? "bad" : "wait"}>
          <p>
            {row.reason !== undefined && <strong>{row.reason}. </strong>}
            <Sentence text={failure ?? row.message ?? ""} />
          </p>
        </div>
      )}
      <Panel title="Tasks and steps" isPadded>
        {tasks.length > 0 ? (
          <TaskGraph tasks={tasks} endedAt={row.endedAt} />
        ) : (
          <p class="muted">{row.endedAt === undefined ? "The run has not started." : "No run was started."}</p>
        )}
      </Panel>
      <Panel title="Output" isPadded>
        <LogView path={logs} />
        <Command text={`interlock logs ${row.endedAt === undefined ? "-f " : ""}${row.name}`} />
      </Panel>
      <div class="columns">
        <Panel title="Facts" isPadded>
          <ExecutionFacts detail={detail} />
        </Panel>
        <Panel title="Parameters" isPadded>
          {given.length > 0 ? (
            <Facts isWide facts={given.map(([name, value]) => [name, <code>{value}</code>])} />
          ) : (
            <p class="muted">The workflow has no parameters.</p>
          )}
        </Panel>
      </div>
    </>
  );
}

function Subtitle({ detail: { row } }: { readonly detail: ExecutionDetail }) {
  return (
    <p class="subtitle">
      <Phase phase={row.phase} />
      <span class="mono muted" title={row.key}>
        {row.name}
      </span>
      <TargetLink target={row.target} />
    </p>
  );
}

function ExecutionFacts({ detail }: { readonly detail: ExecutionDetail }) {
  const { row, image, digest, serviceAccount, fence } = detail;
  return (
    <Facts
      facts={[
        ["Engine", row.engine],
        ["Image", image !== undefined && <code>{image}</code>],
        ["Digest", digest !== undefined && <code>{digest}</code>],
        ["Service account", serviceAccount],
        ["Fence", fence !== undefined && <span class="number">{fence}</span>],
        ["Incident", row.incident !== undefined && <ObjectLink kind="incidents" of={row.incident} />],
        ["Created", <Time at={row.createdAt} />],
        ["Started", row.startedAt !== undefined && <Time at={row.startedAt} />],
        ["Ended", row.endedAt !== undefined && <Time at={row.endedAt} />],
        [
          row.endedAt === undefined ? "Running for" : "Took",
          row.startedAt !== undefined && <Duration from={row.startedAt} to={row.endedAt} />,
        ],
      ]}
    />
  );
}
