import { runOwner } from "../../engines/index.ts";
import { iso, type KubeObject } from "../../kube/index.ts";
import { foldAck, foldEnd, type NameGuarantee, withHolder } from "../../policy/index.ts";
import {
  annotationKeys,
  labelKeys,
  type ObjectTarget,
  type RecordHolder,
  type RemediationTarget,
  type RemediationTargetStatus,
  remediationTargets,
  runName,
  type Target,
  type TargetHolder,
  targetHash,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { acknowledgementOf, endOf } from "../endings/endings.ts";
import { type Caches, isAcknowledged } from "../observe.ts";
import type { Snapshot } from "../snapshot.ts";

/**
 * Makes the record of a target that has none: because nothing was ever done to it, or because somebody deleted the record.
 * Executions and runs are read from the server: a holder that is overlooked here would be run over. Undefined if others
 * changed it meanwhile.
 */
export async function rebuildRecord(
  { plan, settings }: Snapshot,
  caches: Caches,
  signal: AbortSignal,
): Promise<RemediationTarget | undefined> {
  const { client, namespace } = caches;
  if (!plan.target) throw new TypeError("an execution without a target has no record");
  const name = targetHash(plan.target);
  const outcome = await client.create(remediationTargets, emptyRecord(plan.target, namespace), { signal });
  const record =
    outcome.kind === "created" ? outcome.object : await client.get(remediationTargets, { name, namespace }, { signal });
  if (!record || record.status) return record;

  const selector = { labelSelector: `${labelKeys.targetHash}=${name}` };
  const { items } = await client.list(workflowExecutions, selector, { signal });
  const runs = await runsOn(plan.target, caches, signal);
  const holder = holderIn(items, runs, (run) => isGoingOn(run, plan.target?.text, caches));
  const knownSinceMs = items.some(isAcknowledged) ? await caches.acknowledgersKnownSince?.(signal) : undefined;
  const history = historyIn(items, settings, knownSinceMs);
  const status = holder ? withHolder(history, holder) : history;
  const written = await client.update(remediationTargets, { ...record, status }, { subresource: "status", signal });
  return written.kind === "updated" ? written.object : undefined;
}

function emptyRecord(target: ObjectTarget, namespace: string): RemediationTarget {
  const { apiVersion, kind } = remediationTargets;
  const name = targetHash(target);
  const metadata = { name, namespace, labels: { [labelKeys.targetHash]: name } };
  return { apiVersion, kind, metadata, spec: { targetResource: target.text } };
}

/** The runs that have the target's name, of every kind, as the server knows them. */
export async function runsOn(target: Target, caches: Caches, signal: AbortSignal): Promise<readonly KubeObject[]> {
  const runs: KubeObject[] = [];
  for (const type of new Set([...caches.engines.values()].map((engine) => engine.runs))) {
    const run = await caches.client.get(type, { namespace: caches.namespace, name: runName(target) }, { signal });
    if (run) runs.push(run);
  }
  return runs;
}

/** What the record of a target has to say of the past, according to its executions. */
function historyIn(
  executions: readonly WorkflowExecution[],
  settings: Snapshot["settings"],
  knownSinceMs: NameGuarantee | undefined,
): RemediationTargetStatus {
  const { backoff } = settings;
  let status: RemediationTargetStatus = { workflows: [] };
  for (const execution of executions) {
    const { workflowId } = execution.spec.workflowRef;
    const end = endOf(execution, settings);
    if (!end) continue;
    status = foldEnd(status, { workflowId, end, backoff });
    const ack = acknowledgementOf(execution, end, { knownSinceMs });
    if (ack) status = foldAck(status, { workflowId, ack, backoff });
  }
  return status;
}

/** Whoever has a run that goes on, even if the execution itself is gone; otherwise whoever was about to have one. */
function holderIn(
  executions: readonly WorkflowExecution[],
  runs: readonly KubeObject[],
  goesOn: (run: KubeObject) => boolean,
): RecordHolder | undefined {
  const active = runs.find(goesOn);
  const holder =
    executions.find(({ metadata }) => active && isRunOf(active, metadata.uid)) ??
    executions.find((execution) => !active && holds(execution, runs));
  return holder ? holderOf(holder, runs) : active && holderByMarks(active);
}

function isGoingOn(run: KubeObject, target: string | undefined, { engines }: Caches): boolean {
  const engine = [...engines.values()].find(({ runs }) => runs.kind === run.kind);
  return runOwner(run).target === target && engine?.stateOf(run).kind === "running";
}

function holderByMarks(run: KubeObject): TargetHolder {
  const { labels = {}, creationTimestamp } = run.metadata;
  return {
    executionUid: runOwner(run).executionUid ?? "",
    executionName: labels[labelKeys.workflowExecution] ?? "",
    executionNamespace: labels[labelKeys.sourceNamespace] ?? "",
    workflowId: labels[labelKeys.workflowId] ?? "",
    engine: labels[labelKeys.engine] as TargetHolder["engine"],
    since: iso(creationTimestamp ?? 0),
  };
}

/** Running; or Pending, but with its run made already. */
function holds({ metadata, status }: WorkflowExecution, runs: readonly KubeObject[]): boolean {
  if (status?.phase === "Running") return true;
  return status?.phase === "Pending" && runs.some((run) => isRunOf(run, metadata.uid));
}

function holderOf({ metadata, spec, status }: WorkflowExecution, runs: readonly KubeObject[]): RecordHolder {
  const approval = status?.phase === "Running" ? status.approvalRef : undefined;
  const run = runs.find((run) => isRunOf(run, metadata.uid));
  const since = status?.phase === "Running" ? status.startTime : run?.metadata.creationTimestamp;
  const engine = run?.metadata.labels?.[labelKeys.engine] ?? spec.workflowRef.engine ?? "tekton";
  return {
    executionUid: metadata.uid ?? "",
    executionName: metadata.name ?? "",
    executionNamespace: metadata.namespace ?? "",
    workflowId: spec.workflowRef.workflowId,
    engine: engine as TargetHolder["engine"],
    since: iso(since ?? metadata.creationTimestamp ?? 0),
    ...(approval ? { approval } : {}),
  };
}

function isRunOf(run: KubeObject, uid: string | undefined): boolean {
  return run.metadata.annotations?.[annotationKeys.executionUid] === uid;
}
