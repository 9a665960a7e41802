import { type Engine, runOwner } from "../engines/index.ts";
import type { KubeObject } from "../kube/index.ts";
import type { LedgerEvent } from "../ledger/index.ts";
import { foldAck, foldEnd } from "../policy/index.ts";
import {
  annotationKeys,
  type ExecutionEnd,
  labelKeys,
  parseTarget,
  type RemediationTarget,
  remediationTargets,
  type TargetHolder,
  type WorkflowHistory,
  workflowExecutions,
} from "../resources/index.ts";
import { acknowledgementOf } from "./endings.ts";
import type { Sight } from "./observe.ts";
import type { Hands } from "./perform.ts";
import { runsOn } from "./rebuild-record.ts";

/**
 * Looks after what has lost its execution, which would otherwise do so itself: a run that nobody watches is stopped and
 * removed, and a target whose holder is gone is freed once its run has ended.
 */
export async function reconcileTarget(name: string, hands: Hands, signal: AbortSignal): Promise<number | undefined> {
  const { sight } = hands;
  const record = sight.records.get({ namespace: sight.namespace, name });
  if (!record) return undefined;
  if (await acknowledge(record, hands, signal)) return retryMs;
  if (!mayHaveOrphans(record, sight)) return undefined;

  const uids = await livingExecutions(name, sight, signal);
  const holder = record.status?.holder;
  const orphans = (await foundRuns(record, sight, signal)).filter(({ executionUid }) => !uids.has(executionUid));
  for (const orphan of orphans) await stopOrRemove(orphan, sight, signal);
  if (orphans.length > 0) return lookAgainMs;
  if (!holder || uids.has(holder.executionUid)) return undefined;
  return (await free(record, holder, hands, signal)) ? undefined : retryMs;
}

/** True if a person's word was found on the record, for an execution that is gone and cannot carry it itself. */
async function acknowledge(record: RemediationTarget, { sight, ledger }: Hands, signal: AbortSignal): Promise<boolean> {
  const uid = record.metadata.annotations?.[annotationKeys.acknowledgedExecution];
  const found = uid === undefined ? undefined : findEnd(record, uid);
  const ack = found && acknowledgementOf(record, found.end, sight.client.serverNowMs());
  if (!found || !ack || covers(found.history.ack, found.end)) return false;

  const { workflowId } = found.history;
  await ledger.append({
    id: `${uid}/failure.acknowledged`,
    type: "failure.acknowledged",
    at: ack.at,
    facts: {
      execution_id: found.end.executionUid,
      execution: `${found.end.executionNamespace}/${found.end.executionName}`,
      workflow_id: workflowId,
      target_resource: record.spec.targetResource,
      by: ack.by,
      reason: ack.reason,
      verified: ack.verified,
    },
  });
  const status = foldAck(record.status, { workflowId, ack, backoff: sight.settings.backoff });
  await sight.client.update(remediationTargets, { ...record, status }, { subresource: "status", signal });
  return true;
}

function findEnd({ status }: RemediationTarget, uid: string) {
  for (const history of status?.workflows ?? []) {
    const ends = [history.lastExecutionFailure, history.lastFailure, ...history.recentEnds];
    const end = ends.find((end) => end?.executionUid === uid);
    if (end) return { history, end };
  }
  return undefined;
}

function covers(ack: WorkflowHistory["ack"], { completedAt }: ExecutionEnd): boolean {
  return ack !== undefined && Date.parse(ack.coversUntil) >= Date.parse(completedAt);
}

const lookAgainMs = 1_000;
const retryMs = 50;

/** By what the caches know: that costs nothing, and they hear of everything sooner or later. */
function mayHaveOrphans({ metadata, status }: RemediationTarget, { executions, runs }: Sight): boolean {
  const isGone = (uid: string | undefined) => uid !== undefined && executions.byIndex("uid", uid).length === 0;
  const hash = metadata.name;
  const named = [...runs.values()].flatMap((informer) => informer.byIndex("target", hash ?? ""));
  return isGone(status?.holder?.executionUid) || named.some((run) => isGone(runOwner(run).executionUid));
}

async function livingExecutions(hash: string, { client }: Sight, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const selector = { labelSelector: `${labelKeys.targetHash}=${hash}` };
  const { items } = await client.list(workflowExecutions, selector, { signal });
  return new Set(items.map(({ metadata }) => metadata.uid ?? ""));
}

interface FoundRun {
  readonly engine: Engine;
  readonly run: KubeObject;
  readonly executionUid: string;
}

/** The runs on this target that were made by executions, each with an engine that can stop it. */
async function foundRuns(record: RemediationTarget, sight: Sight, signal: AbortSignal): Promise<readonly FoundRun[]> {
  const read = parseTarget(record.spec.targetResource, sight.kinds);
  if (read.kind === "problem") return [];
  const runs = await runsOn(read.target, sight, signal);
  return runs.flatMap((run) => {
    const { executionUid, target } = runOwner(run);
    const engine = [...sight.engines.values()].find(({ runs }) => runs.kind === run.kind);
    return engine && executionUid && target === read.target.text ? [{ engine, run, executionUid }] : [];
  });
}

async function stopOrRemove({ engine, run }: FoundRun, { client }: Sight, signal: AbortSignal): Promise<void> {
  const { name = "", namespace = "", uid = "" } = run.metadata;
  const ref = { name, namespace };
  if (engine.stateOf(run).kind === "running") await client.patch(engine.runs, ref, engine.cancel(run), { signal });
  else await client.delete(engine.runs, ref, { preconditions: { uid }, propagation: "Foreground" }, { signal });
}

/** What a holder that is gone did, nobody knows: it counts as a failure while acting, until a person has looked. */
async function free(
  record: RemediationTarget,
  holder: TargetHolder,
  { sight, ledger }: Hands,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, settings } = sight;
  const end = unknownEnd(holder, client.serverNowMs());
  const status = foldEnd(record.status, { workflowId: holder.workflowId, end, backoff: settings.backoff });
  const outcome = await client.update(remediationTargets, { ...record, status }, { subresource: "status", signal });
  if (outcome.kind !== "updated") return false;
  await ledger.append(freedEvent(record, holder, client.serverNowMs()));
  return true;
}

function unknownEnd({ executionUid, executionName, executionNamespace }: TargetHolder, nowMs: number): ExecutionEnd {
  return {
    executionUid,
    executionName,
    executionNamespace,
    outcome: "Failed",
    completedAt: new Date(nowMs).toISOString(),
    reason: "Unknown",
    wasExecutionFailure: true,
  };
}

function freedEvent({ spec }: RemediationTarget, holder: TargetHolder, nowMs: number): LedgerEvent {
  return {
    id: `${holder.executionUid}/target.freed`,
    type: "target.freed",
    at: new Date(nowMs).toISOString(),
    facts: {
      execution_id: holder.executionUid,
      execution: `${holder.executionNamespace}/${holder.executionName}`,
      workflow_id: holder.workflowId,
      target_resource: spec.targetResource,
      because: "the execution was removed without telling how it ended",
    },
  };
}
