import { explainWorkflows, OperationError } from "../../operate/index.ts";
import { type ObjectTarget, parseTarget, remediationWorkflows } from "../../resources/index.ts";
import type { ExecutionRow, IncidentRow, PauseRow, TargetDetail, TargetRow } from "../wire.ts";
import type { ReadContext } from "./read-context.ts";
import { inOrder, ledgerTimeline, maxTimelineEvents, objectTimeline, pauseTimeline } from "./timeline.ts";

const maxRows = 50;

/** Everything about a target, in any of its spellings. Throws OperationError `invalid` for a text that is no target. */
export async function readTarget(text: string, context: ReadContext): Promise<TargetDetail> {
  const kinds = await context.kinds();
  const parsed = parseTarget(text, kinds);
  if (parsed.kind === "problem") throw new OperationError("invalid", `the target "${text}" ${parsed.problem}`);
  const { target } = parsed;
  const [targets, incidents, executions, pauses, recorded, workflows] = await Promise.all([
    page("targets", target.text, context),
    page("incidents", target.text, context),
    page("executions", target.text, context),
    context.projection.page("pauses", { filter: {}, limit: maxRows }),
    context.readEvents({ target: target.text }, { max: maxTimelineEvents }),
    // Workflows act on objects, not on repositories.
    target.type === "object" ? readWorkflows(target, context) : { workflows: [], otherWorkflows: [] },
  ]);
  const incidentRows = incidents as readonly IncidentRow[];
  const executionRows = executions as readonly ExecutionRow[];
  const scopes = pauseScopes(target.text, target.type === "object" ? target.namespace : undefined);
  const covering = (pauses.rows as readonly PauseRow[]).filter(({ scope }) => scopes.includes(scope));
  const events = recorded ? ledgerTimeline(recorded) : objectTimeline(incidentRows, executionRows);
  const [row] = targets as readonly TargetRow[];
  return {
    ...(row ? { row } : {}),
    target: target.text,
    events: inOrder([...events.filter(({ lane }) => lane !== "pauses"), ...pauseTimeline(covering)]),
    ...workflows,
    incidents: incidentRows,
    executions: executionRows,
  };
}

async function page(kind: "targets" | "incidents" | "executions", target: string, { projection }: ReadContext) {
  return (await projection.page(kind, { filter: { target }, limit: maxRows })).rows;
}

/** The decision about each workflow that acts on targets of this kind, and the names of all others. */
async function readWorkflows(
  target: ObjectTarget,
  context: ReadContext,
): Promise<Pick<TargetDetail, "workflows" | "otherWorkflows">> {
  const [workflows, { items }] = await Promise.all([
    explainWorkflows(target.text, context).catch(withoutCatalog),
    context.client.list(remediationWorkflows, { namespace: context.catalogIn }),
  ]);
  const suitable = new Set(workflows.map(({ workflow }) => workflow));
  const others = items.map(({ spec }) => spec.workflowId).filter((workflow) => !suitable.has(workflow));
  return { workflows, otherWorkflows: [...new Set(others)].sort() };
}

/** The scopes of pauses that cover a target, as rows show them. */
function pauseScopes(target: string, namespace: string | undefined): readonly string[] {
  return ["everything", `target ${target}`, ...(namespace === undefined ? [] : [`namespace ${namespace}`])];
}

/** The page of a target is complete although no workflow acts on its kind. */
function withoutCatalog(error: unknown): readonly [] {
  if (error instanceof OperationError && error.code === "not-found") return [];
  throw error;
}
