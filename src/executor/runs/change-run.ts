import type { Engine } from "../../engines/index.ts";
import { exactly, KubeError, type KubeObject, type Patch, refOf } from "../../kube/index.ts";
import {
  annotationKeys,
  type FailureReason,
  listSecretParameters,
  readCancelRequest,
  remediationTargets,
  runName,
  targetHash,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import type { Caches } from "../caches.ts";
import type { ActionContext, ActionOutcome } from "../deps.ts";
import { type CancelReason, findHolder, type ObservedRun, type Snapshot } from "../snapshot.ts";
import { chooseEngine } from "./read-run.ts";

export async function createRun(snapshot: Snapshot, { caches, announce, signal }: ActionContext): ActionOutcome {
  const engine = needEngine(snapshot, caches);
  const prepared = await engine.prepare(toRunOrder(snapshot, caches), signal);
  if (prepared.kind === "refused") return { kind: "done", snapshot: { ...snapshot, refusal: prepared } };
  try {
    const outcome = await caches.client.create(engine.runs, prepared.run, { signal });
    // Another run has the name: our own, if the response to its creation was lost, or one that has to be deleted first.
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
export async function startRun(snapshot: Snapshot, run: ObservedRun, { caches, signal }: ActionContext): ActionOutcome {
  const { client, namespace } = caches;
  const engine = needEngine(snapshot, caches);
  const name = snapshot.record?.metadata.name ?? "";
  const [execution, record] = await Promise.all([
    client.get(workflowExecutions, refOf(snapshot.execution), { signal }),
    client.get(remediationTargets, { namespace, name }, { signal }),
  ]);
  if (!execution || execution.metadata.uid !== snapshot.execution.metadata.uid) return { kind: "stale" };
  if (!canStart(execution, run) || !findHolder(execution, record)) return { kind: "stale" };

  const outcome = await client.patch(engine.runs, refOf(run.object), engine.start(run.object), { signal });
  if (outcome.kind !== "updated") return { kind: "stale" };
  return { kind: "done", snapshot: { ...snapshot, execution, record, run: ourRun(outcome.object, engine) } };
}

function canStart(execution: WorkflowExecution, run: ObservedRun): boolean {
  const { metadata, status } = execution;
  if (metadata.deletionTimestamp || readCancelRequest(execution)) return false;
  return status?.phase === "Running" && status.pipelineRunRef.uid === run.uid;
}

export async function cancelRun(
  snapshot: Snapshot,
  { run, because }: { readonly run: ObservedRun; readonly because: CancelReason },
  { caches, signal }: ActionContext,
): ActionOutcome {
  const engine = needEngine(snapshot, caches);
  const patch = withCancelReason(engine.cancel(run.object), because);
  const outcome = await caches.client.patch(engine.runs, refOf(run.object), patch, { signal });
  return { kind: outcome.kind === "updated" ? "waiting" : "stale" };
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

/** Deletes exactly the observed run. A run of that name that belongs to another execution, or was started since, stays. */
export async function deleteRun(snapshot: Snapshot, run: ObservedRun, context: ActionContext): ActionOutcome {
  const { caches, announce, signal } = context;
  const { client, ownWrites } = caches;
  const { runs } = needEngine(snapshot, caches);
  const { name } = refOf(run.object);
  // Dependents are deleted first: Tekton would adopt a remaining TaskRun, and its success, for the next run.
  const options = { propagation: "Foreground", preconditions: exactly(run.object) } as const;
  const outcome = await client.delete(runs, refOf(run.object), options, { signal }).catch((error: unknown) => {
    announce({ kind: "cleanup-failed", why: `run ${name} could not be deleted: ${String(error)}` }, snapshot);
    throw error;
  });
  if (outcome.kind === "conflict") return { kind: "stale" };
  announce({ kind: "run-removed", runName: name }, snapshot);
  if (outcome.kind === "deleted" && outcome.remaining) return { kind: "waiting" };
  ownWrites.noteGone(run.object);
  return { kind: "done", snapshot: { ...snapshot, run: undefined } };
}

/** Whether the server has the observed version of the run. */
export async function isRunUnchanged(
  snapshot: Snapshot,
  { object }: ObservedRun,
  { caches, signal }: ActionContext,
): Promise<boolean> {
  const run = await caches.client.get(needEngine(snapshot, caches).runs, refOf(object), { signal });
  return run?.metadata.resourceVersion === object.metadata.resourceVersion;
}

function toRunOrder({ execution, plan, record, settings }: Snapshot, { namespace }: Caches) {
  if (plan.kind === "invalid") throw new TypeError("an invalid execution has no run");
  const { metadata, spec } = execution;
  const { containerImage, pipeline, args, serviceAccountName } = plan;
  return {
    name: runName(plan.target),
    namespace,
    execution: { uid: metadata.uid ?? "", name: metadata.name ?? "", namespace: metadata.namespace ?? "" },
    target: plan.target.text,
    targetHash: targetHash(plan.target),
    workflow: {
      ...{ id: spec.workflowRef.workflowId, containerImage, pipeline },
      ...(args && { args }),
      ...(serviceAccountName !== undefined && { serviceAccountName }),
    },
    parameters: plan.parameters,
    secretParameters: listSecretParameters(plan.parameters, plan.entry),
    timeoutMs: plan.timeoutMs,
    // An engine that removes finished runs by itself must not shorten a cooldown.
    keepMs: Math.max(plan.cooldownMs, settings.runTtlMs),
    // The record's version grows with every admission, so a later holder's fence is larger.
    fence: record?.metadata.resourceVersion ?? "",
  };
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
