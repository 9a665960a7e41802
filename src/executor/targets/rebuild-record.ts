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
import type { Caches } from "../caches.ts";
import { isAcknowledged, readAcknowledgement, toExecutionEnd } from "../endings/endings.ts";
import type { Snapshot } from "../snapshot.ts";

/**
 * Creates the record of a target that has none: nothing acted on it before, or the record was deleted. Executions and runs are
 * read from the server, because a holder that is missed here would lose its target. Returns undefined if another replica changed
 * the record meanwhile.
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
  const runs = await readRunsOn(plan.target, caches, signal);
  const active = runs.find((run) => isActive(run, plan.target?.text, caches));
  const holder = findActingHolder(items, runs, active);
  const knownSinceMs = items.some(isAcknowledged) ? await caches.acknowledgersKnownSince?.(signal) : undefined;
  const history = buildHistory(items, settings, knownSinceMs);
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

/** Reads the runs that have the target's name, of every kind, from the server. */
export async function readRunsOn(target: Target, caches: Caches, signal: AbortSignal): Promise<readonly KubeObject[]> {
  const runs: KubeObject[] = [];
  for (const type of new Set([...caches.engines.values()].map((engine) => engine.runs))) {
    const run = await caches.client.get(type, { namespace: caches.namespace, name: runName(target) }, { signal });
    if (run) runs.push(run);
  }
  return runs;
}

function buildHistory(
  executions: readonly WorkflowExecution[],
  settings: Snapshot["settings"],
  knownSinceMs: NameGuarantee | undefined,
): RemediationTargetStatus {
  const { backoff } = settings;
  let status: RemediationTargetStatus = { workflows: [] };
  for (const execution of executions) {
    const { workflowId } = execution.spec.workflowRef;
    const end = toExecutionEnd(execution, settings);
    if (!end) continue;
    status = foldEnd(status, { workflowId, end, backoff });
    const ack = readAcknowledgement(execution, end, { knownSinceMs });
    if (ack) status = foldAck(status, { workflowId, ack, backoff });
  }
  return status;
}

/** Returns the owner of the active run, even if its execution was deleted; without one, an execution that has a run. */
function findActingHolder(
  executions: readonly WorkflowExecution[],
  runs: readonly KubeObject[],
  active: KubeObject | undefined,
): RecordHolder | undefined {
  const holder = executions.find((execution) =>
    active ? isRunOf(active, execution.metadata.uid) : hasRun(execution, runs),
  );
  return holder ? toHolder(holder, runs) : active && holderByMarks(active);
}

function isActive(run: KubeObject, target: string | undefined, { engines }: Caches): boolean {
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

/** Whether the execution is Running, or Pending with a run. */
function hasRun({ metadata, status }: WorkflowExecution, runs: readonly KubeObject[]): boolean {
  if (status?.phase === "Running") return true;
  return status?.phase === "Pending" && runs.some((run) => isRunOf(run, metadata.uid));
}

function toHolder({ metadata, spec, status }: WorkflowExecution, runs: readonly KubeObject[]): RecordHolder {
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
