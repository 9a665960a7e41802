import { type Engine, runOwner } from "../../engines/index.ts";
import type { KubeObject } from "../../kube/index.ts";
import { annotationKeys, type Engine as EngineName, runName, type WorkflowExecution } from "../../resources/index.ts";
import type { Caches, ReadOptions } from "../caches.ts";
import { type CancelReason, findHolder, type ObservedRun, type RunOwner, type Snapshot } from "../snapshot.ts";

/** Reads the run from the cache; from the server if the cache does not show it, or is outdated. */
export async function readRun(
  snapshot: EngineEvidence,
  caches: Caches,
  { signal, fresh }: ReadOptions,
): Promise<ObservedRun | undefined> {
  const { execution, plan } = snapshot;
  const engine = chooseEngine(snapshot, caches);
  // Without its engine, the execution would seem to have lost its run, and would free its target while the run still acts.
  if (!engine && execution.status?.phase === "Running") throw new Error(missingEngine(engineName(snapshot, caches)));
  if (!engine || !plan.target) return undefined;
  const ref = { namespace: caches.namespace, name: runName(plan.target) };
  const shown = caches.runs.get(engine.name)?.get(ref);
  const isCurrent = shown && !fresh && mayBeRunOf(execution, shown) && !caches.ownWrites.isOutdated(shown);
  const mayExist = fresh || shown !== undefined || mayHaveRun(execution);
  const read = () => (mayExist ? caches.client.get(engine.runs, ref, { signal }) : undefined);
  const run = isCurrent ? shown : await read();
  return run && toObservedRun(run, execution, plan.target.text, { engine, caches, signal });
}

/** Whether the run of a Running execution is deleted. */
export function isRunDeleted({ status }: WorkflowExecution, run: ObservedRun | undefined): boolean {
  return status?.phase === "Running" && status.pipelineRunRef.uid !== run?.uid;
}

/** An outdated cache may still show an earlier run of that name, which does not mean that our run is deleted. */
function mayBeRunOf({ status }: WorkflowExecution, shown: KubeObject): boolean {
  return status?.phase !== "Running" || status.pipelineRunRef.uid === shown.metadata.uid;
}

/** A skipped execution has no run unless the cache shows one, so none of them costs a read of the server. */
function mayHaveRun({ status, metadata }: WorkflowExecution): boolean {
  return status?.phase === "Pending" || status?.phase === "Running" || metadata.deletionTimestamp !== undefined;
}

type EngineEvidence = Pick<Snapshot, "execution" | "plan" | "record">;

/** Returns the engine of the execution; undefined if it is not configured. */
export function chooseEngine(evidence: EngineEvidence, caches: Caches): Engine | undefined {
  return caches.engines.get(engineName(evidence, caches));
}

/** An execution that was admitted stays with its engine, even if the catalog changes. */
function engineName({ execution, plan, record }: EngineEvidence, { defaults }: Caches): EngineName {
  const { spec, status } = execution;
  const workload = status && "workload" in status ? status.workload : undefined;
  const known = findHolder(execution, record)?.engine ?? workload?.engine;
  const planned = plan.kind === "valid" ? plan.engine : spec.workflowRef.engine;
  return known ?? planned ?? defaults.engine;
}

/** Describes why a run cannot be read. */
export function missingEngine(name: EngineName): string {
  return `the engine ${name} of the run is not configured here; add it to execution.engines until the run has ended`;
}

interface RunContext {
  readonly engine: Engine;
  readonly caches: Caches;
  readonly signal: AbortSignal;
}

async function toObservedRun(
  object: KubeObject,
  execution: WorkflowExecution,
  target: string,
  { engine, caches, signal }: RunContext,
): Promise<ObservedRun> {
  const state = engine.stateOf(object);
  const owner = classifyOwner(object, execution, target, caches);
  const because = object.metadata.annotations?.[annotationKeys.cancelReason] as CancelReason | undefined;
  const hasEnded = state.kind === "succeeded" || state.kind === "failed";
  // The objects below the run are read once: to record its end.
  const isEnding = hasEnded && owner.kind === "us" && execution.status?.phase === "Running";
  const digests = isEnding ? await engine.readDigests(object, signal) : [];
  const workload = engine.workloadOf(object);
  return {
    object,
    uid: object.metadata.uid ?? "",
    state,
    owner,
    workload: digests.length > 0 ? { ...workload, imageDigests: digests } : workload,
    ...(isEnding && state.kind === "failed" ? { failure: await engine.readFailure(object, signal) } : {}),
    ...(because === undefined ? {} : { cancelledBecause: because }),
  };
}

function classifyOwner(
  run: KubeObject,
  execution: WorkflowExecution,
  target: string,
  { executions }: Caches,
): RunOwner {
  const { executionUid, target: markedTarget } = runOwner(run);
  const what = `the ${run.kind} ${run.metadata.namespace}/${run.metadata.name}`;
  if (!executionUid || !markedTarget) {
    const why = `${what} has the name of this target's runs, but was not created by an execution: remove it`;
    return { kind: "foreign", why };
  }
  if (markedTarget !== target) {
    const why = `${what} is for ${markedTarget}, whose runs have the same name: remove it when it has ended`;
    return { kind: "foreign", why };
  }
  if (executionUid === execution.metadata.uid) return { kind: "us" };

  const [other] = executions.byIndex("uid", executionUid);
  return { kind: "other", name: other?.metadata.name ?? executionUid, settled: !other || hasSettled(other, run) };
}

/** Whether the execution has ended with exactly this run, and will not read it again. */
function hasSettled({ status }: WorkflowExecution, run: KubeObject): boolean {
  if (status?.phase !== "Completed" && status?.phase !== "Failed") return status?.phase === "Skipped";
  return status.pipelineRunRef?.uid === run.metadata.uid;
}
