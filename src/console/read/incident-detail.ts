import { explainIncident, paragraphLines } from "../../operate/index.ts";
import { type RemediationRequest, remediationRequests, workflowExecutions } from "../../resources/index.ts";
import { incidentMessage, rowKey, toExecutionRow, toIncidentRow } from "../rows/index.ts";
import type { ExecutionRow, IncidentDetail, IncidentRow, NoticeRow } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";
import { inOrder, ledgerTimeline, maxTimelineEvents, objectTimeline } from "./timeline.ts";

export interface NamedObject {
  readonly namespace: string;
  readonly name: string;
}

/** All of them are in the lists of incidents and executions. */
const maxRelated = 50;

/** Everything about an incident; undefined if there is none of that name. */
export async function readIncident(ref: NamedObject, context: ReadContext): Promise<IncidentDetail | undefined> {
  const { client, projection } = context;
  const incident = await client.get(remediationRequests, ref);
  if (!incident) return undefined;
  const row = ((await projection.row("incidents", rowKey(ref))) as IncidentRow | undefined) ?? toIncidentRow(incident);
  const [explanation, executions, followers, notices, recorded] = await Promise.all([
    explainIncident(incident, context),
    readExecutions(incident, context),
    readFollowers(row, context),
    readNotices(row.key, ref.name, context),
    context.readEvents({ incident: ref.name }, { max: maxTimelineEvents }),
  ]);
  const message = incidentMessage(incident);
  return {
    row,
    ...(message === undefined ? {} : { message }),
    checks: explanation.checks,
    why: paragraphLines(explanation.text),
    labels: incident.spec.signalLabels ?? {},
    annotations: incident.spec.signalAnnotations ?? {},
    series: readSeries(incident),
    executions,
    followers,
    notices,
    events: inOrder(recorded ? ledgerTimeline(recorded) : objectTimeline([row], executions)),
  };
}

function readSeries({ spec, status }: RemediationRequest): IncidentDetail["series"] {
  return Object.values(status?.deduplication?.series ?? {}).map(({ firingAt, resolvedAt, severity }) => ({
    firingAt,
    ...(resolvedAt === undefined ? {} : { resolvedAt }),
    severity: severity ?? spec.severity,
  }));
}

async function readExecutions(
  { status }: RemediationRequest,
  { client }: ReadContext,
): Promise<readonly ExecutionRow[]> {
  const refs = [...(status?.executionRefs ?? []), ...(status?.follows ? [status.follows] : [])].slice(-maxRelated);
  const found = await Promise.all(
    refs.map(({ name, namespace }) => client.get(workflowExecutions, { name, namespace })),
  );
  // One of the same name with another uid is another execution.
  return found.flatMap((execution, i) =>
    execution && execution.metadata.uid === refs[i]?.uid ? [toExecutionRow(execution)] : [],
  );
}

/** Other incidents that run or follow the same execution, or wait for it. */
async function readFollowers(
  { key, execution }: IncidentRow,
  { projection }: ReadContext,
): Promise<readonly IncidentRow[]> {
  if (execution === undefined) return [];
  const { rows } = await projection.page("incidents", { filter: { search: execution }, limit: maxRelated });
  return (rows as readonly IncidentRow[]).filter((row) => row.key !== key && row.execution === execution);
}

async function readNotices(key: string, name: string, { projection }: ReadContext): Promise<readonly NoticeRow[]> {
  const { rows } = await projection.page("notices", { filter: { search: name }, limit: maxRelated });
  return (rows as readonly NoticeRow[]).filter(({ incident }) => incident === key);
}
