import type { Engine } from "../engines/index.ts";
import {
  deleteExactly,
  KubeError,
  type KubeObject,
  type Patch,
  type Performed,
  refOf,
  writeStatus,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  annotationKeys,
  executionFinalizer,
  type FailureReason,
  notificationRequests,
  type RemediationTargetStatus,
  readCancelRequest,
  remediationTargets,
  runName,
  targetHash,
  type WorkflowExecution,
  type WorkflowExecutionStatus,
  workflowExecutions,
} from "../resources/index.ts";
import type { Action } from "./action.ts";
import { isUnchanged } from "./admission/find-entry.ts";
import type { ValidPlan } from "./admission/plan.ts";
import { type Caches, chooseEngine } from "./observe.ts";
import type { Announce } from "./reports/announce.ts";
import * as events from "./reports/ledger-events.ts";
import type { CancelReason, ObservedRun, Snapshot } from "./snapshot.ts";
import { requiredMarks } from "./snapshot.ts";
import { rebuildRecord } from "./targets/rebuild-record.ts";

/** The operations that the executor may call. */
export interface Deps {
  readonly caches: Caches;
  readonly ledger: Ledger;
  readonly announce: Announce;
}

/** Performs one action. Safe to repeat; every write is conditional on the snapshot. */
export async function perform(
  action: Action,
  snapshot: Snapshot,
  deps: Deps,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const { caches, ledger } = deps;
  const { client } = caches;
  const { execution } = snapshot;
  switch (action.do) {
    case "mark":
      return patchExecution(snapshot, markPatch(snapshot), caches, signal);
    case "unmark":
      return patchExecution(snapshot, unmarkPatch(execution), caches, signal);
    case "set-status":
      return setStatus(
        action.decision ? { ...snapshot, decision: action.decision } : snapshot,
        action.status,
        caches,
        signal,
      );
    case "mirror-run":
      return (await isCurrent(action.run, snapshot, caches, signal))
        ? setStatus(snapshot, action.status, caches, signal)
        : { kind: "stale" };
    case "create-record": {
      const record = await rebuildRecord(snapshot, caches, signal);
      return record ? { kind: "done", snapshot: { ...snapshot, record } } : { kind: "stale" };
    }
    case "write-record": {
      if (!snapshot.record) throw new TypeError("a record is written only after it was read");
      const isAdmission = isHeldBy(execution, action.status) && !isHeldBy(execution, snapshot.record.status);
      if (isAdmission && !(await mayAdmit(snapshot, caches, signal))) return { kind: "stale" };
      const next = { ...snapshot.record, status: action.status };
      const record = await writeStatus(client, remediationTargets, next, signal);
      return record ? { kind: "done", snapshot: { ...snapshot, record } } : { kind: "stale" };
    }
    case "create-run":
      return createRun(snapshot, deps, signal);
    case "start-run":
      return startRun(snapshot, action.run, caches, signal);
    case "cancel-run":
      return cancelRun(snapshot, action.run, action.because, caches, signal);
    case "delete-run":
      return deleteRun(snapshot, action.run, deps, signal);
    case "delete-execution":
      return { kind: (await deleteExactly(client, workflowExecutions, execution, { signal })) ? "waiting" : "stale" };
    case "record":
      await ledger.append(action.event);
      return { kind: "done", snapshot };
    case "record-freed":
      await ledger.append(events.targetFreedEvent(snapshot, client.serverNowMs()));
      return { kind: "done", snapshot };
    case "notify":
      await client.create(notificationRequests, action.notice, { signal });
      return { kind: "done", snapshot };
    case "announce":
      deps.announce(action.what, snapshot);
      return { kind: "done", snapshot };
  }
}

function isHeldBy({ metadata }: WorkflowExecution, status: RemediationTargetStatus | undefined): boolean {
  return status?.holder?.executionUid === metadata.uid;
}

/**
 * An execution that this process admitted before may have ended since, with another replica: a cache that lags behind
 * would admit it again each time the other replica frees the target. So a second admission requires a fresh read.
 */
async function mayAdmit({ execution }: Snapshot, { admitted, client }: Caches, signal: AbortSignal): Promise<boolean> {
  const { uid = "", resourceVersion } = execution.metadata;
  if (!admitted.has(uid)) {
    admitted.add(uid);
    return true;
  }
  const current = await client.get(workflowExecutions, refOf(execution), { signal });
  return current?.metadata.resourceVersion === resourceVersion;
}

async function setStatus(
  snapshot: Snapshot,
  status: WorkflowExecutionStatus,
  { client }: Caches,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const execution = await writeStatus(client, workflowExecutions, { ...snapshot.execution, status }, signal);
  return execution ? { kind: "done", snapshot: { ...snapshot, execution } } : { kind: "stale" };
}

async function isCurrent(
  { object }: ObservedRun,
  snapshot: Snapshot,
  caches: Caches,
  signal: AbortSignal,
): Promise<boolean> {
  const run = await caches.client.get(needEngine(snapshot, caches).runs, refOf(object), { signal });
  return run?.metadata.resourceVersion === object.metadata.resourceVersion;
}

async function patchExecution(
  snapshot: Snapshot,
  patch: Patch,
  { client }: Caches,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const outcome = await client.patch(workflowExecutions, refOf(snapshot.execution), patch, { signal });
  return outcome.kind === "updated"
    ? { kind: "done", snapshot: { ...snapshot, execution: outcome.object } }
    : { kind: "stale" };
}

function markPatch({ execution, plan }: Snapshot): Patch {
  if (!plan.target) throw new TypeError("an execution without a target is not marked");
  const { labels, finalizer } = requiredMarks(execution, plan.target);
  const { resourceVersion, finalizers = [] } = execution.metadata;
  return { merge: { metadata: { resourceVersion, labels, finalizers: [...new Set([...finalizers, finalizer])] } } };
}

function unmarkPatch({ metadata }: WorkflowExecution): Patch {
  const { resourceVersion, finalizers = [] } = metadata;
  return {
    merge: { metadata: { resourceVersion, finalizers: finalizers.filter((name) => name !== executionFinalizer) } },
  };
}

async function createRun(
  snapshot: Snapshot,
  { caches, announce }: Deps,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const engine = needEngine(snapshot, caches);
  const entry = snapshot.plan.kind === "valid" ? snapshot.plan.entry : undefined;
  // The catalog may have changed since the execution was admitted. Then the decision is repeated with the current entry.
  if (entry && !(await isUnchanged(entry, caches, signal))) return { kind: "stale" };
  const prepared = await engine.prepare(toRunOrder(snapshot, caches), signal);
  if (prepared.kind === "refused") return { kind: "done", snapshot: { ...snapshot, refusal: prepared } };
  try {
    const outcome = await caches.client.create(engine.runs, prepared.run, { signal });
    // The name is taken: by our own run, if the response to its creation was lost, or by a run that has to be deleted first.
    if (outcome.kind === "already-exists") return { kind: "stale" };
    const run = ourRun(outcome.object, engine);
    announce({ kind: "run-created", runName: outcome.object.metadata.name ?? "" }, snapshot);
    return { kind: "done", snapshot: { ...snapshot, run } };
  } catch (error) {
    const refusal = refusalIn(error);
    if (!refusal) throw error;
    return { kind: "done", snapshot: { ...snapshot, refusal } };
  }
}

/** Returns the reason of a permanent refusal. All other errors are retried. */
function refusalIn(error: unknown): { reason: FailureReason; message: string } | undefined {
  if (!(error instanceof KubeError)) return undefined;
  if (error.code === "invalid") return { reason: "PipelineRunCreationFailed", message: error.message };
  if (error.code !== "forbidden") return undefined;
  // The API server returns the same code for a full quota and for a missing permission; only the message differs.
  const reason = /exceeded quota:/.test(error.message) ? "QuotaExceeded" : "PipelineRunCreationFailed";
  return { reason, message: error.message };
}

/**
 * The second half of the lock. A replica that was suspended may have created the run late. So execution and record are read
 * once more, and only then is exactly this run started.
 */
async function startRun(
  snapshot: Snapshot,
  run: ObservedRun,
  caches: Caches,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const { client, namespace } = caches;
  const engine = needEngine(snapshot, caches);
  const { uid } = snapshot.execution.metadata;
  const execution = await client.get(workflowExecutions, refOf(snapshot.execution), { signal });
  if (execution?.metadata.uid !== uid || !execution || !canStart(execution, run)) return { kind: "stale" };
  const name = snapshot.record?.metadata.name ?? "";
  const record = await client.get(remediationTargets, { namespace, name }, { signal });
  if (record?.status?.holder?.executionUid !== uid) return { kind: "stale" };

  const outcome = await client.patch(engine.runs, refOf(run.object), engine.start(run.object), { signal });
  if (outcome.kind !== "updated") return { kind: "stale" };
  return { kind: "done", snapshot: { ...snapshot, execution, record, run: ourRun(outcome.object, engine) } };
}

function canStart(execution: WorkflowExecution, run: ObservedRun): boolean {
  const { metadata, status } = execution;
  if (metadata.deletionTimestamp || readCancelRequest(execution)) return false;
  return status?.phase === "Running" && status.pipelineRunRef.uid === run.uid;
}

async function cancelRun(
  snapshot: Snapshot,
  run: ObservedRun,
  because: CancelReason,
  caches: Caches,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const engine = needEngine(snapshot, caches);
  const patch = withCancelReason(engine.cancel(run.object), because);
  const outcome = await caches.client.patch(engine.runs, refOf(run.object), patch, { signal });
  if (outcome.kind !== "updated") return { kind: "stale" };
  return { kind: "waiting" };
}

function withCancelReason(patch: Patch, because: CancelReason): Patch {
  if ("json" in patch) {
    const path = `/metadata/annotations/${annotationKeys.cancelReason.replace("/", "~1")}`;
    return { json: [...patch.json, { op: "add", path, value: because }] };
  }
  const { metadata = {} } = patch.merge as { metadata?: { annotations?: object } };
  const annotations = { ...metadata.annotations, [annotationKeys.cancelReason]: because };
  return { merge: { ...patch.merge, metadata: { ...metadata, annotations } } };
}

/**
 * Deletes exactly the observed run. A run of that name that belongs to another execution, or was started since, stays.
 */
async function deleteRun(
  snapshot: Snapshot,
  run: ObservedRun,
  { caches, announce }: Deps,
  signal: AbortSignal,
): Promise<Performed<Snapshot>> {
  const engine = needEngine(snapshot, caches);
  const ref = refOf(run.object);
  // Dependents are deleted first: Tekton would adopt a remaining TaskRun, and its success, for the next run.
  const options = { propagation: "Foreground", signal } as const;
  try {
    if (!(await deleteExactly(caches.client, engine.runs, run.object, options))) return { kind: "stale" };
  } catch (error) {
    announce({ kind: "cleanup-failed", why: `run ${ref.name} could not be deleted: ${String(error)}` }, snapshot);
    throw error;
  }
  const left = await caches.client.get(engine.runs, ref, { signal });
  if (left?.metadata.uid === run.uid) return { kind: "waiting" };
  if (left) return { kind: "stale" };
  caches.ownWrites.noteGone(run.object);
  return { kind: "done", snapshot: { ...snapshot, run: undefined } };
}

function toRunOrder({ execution, plan, record, settings }: Snapshot, { namespace }: Caches) {
  if (plan.kind === "invalid") throw new TypeError("an invalid execution has no run");
  const { metadata, spec } = execution;
  const { workflowId } = spec.workflowRef;
  const { version, containerImage, args } = plan;
  return {
    name: runName(plan.target),
    namespace,
    execution: { uid: metadata.uid ?? "", name: metadata.name ?? "", namespace: metadata.namespace ?? "" },
    target: plan.target.text,
    targetHash: targetHash(plan.target),
    workflow: {
      id: workflowId,
      ...(version === undefined ? {} : { version }),
      containerImage,
      ...(args && { args }),
      pipeline: plan.pipeline,
      ...(plan.serviceAccountName === undefined ? {} : { serviceAccountName: plan.serviceAccountName }),
    },
    parameters: plan.parameters,
    timeoutMs: plan.timeoutMs,
    keepMs: keepMs(plan, settings.runTtlMs),
    // The record's version grows with every admission, so a later holder's fence is larger.
    fence: record?.metadata.resourceVersion ?? "",
  };
}

/** An engine that removes finished runs by itself never shortens a cooldown. */
function keepMs({ cooldownMs }: ValidPlan, runTtlMs: number): number {
  return Math.max(cooldownMs, runTtlMs);
}

function ourRun(object: KubeObject, engine: Engine): ObservedRun {
  const { uid = "" } = object.metadata;
  return { object, uid, state: engine.stateOf(object), workload: engine.workloadOf(object), owner: { kind: "us" } };
}

function needEngine(snapshot: Snapshot, caches: Caches): Engine {
  const engine = chooseEngine(snapshot, caches);
  if (!engine) throw new TypeError("an execution without an engine has no run to act on");
  return engine;
}
