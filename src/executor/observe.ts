import { type Engine, runOwner } from "../engines/index.ts";
import type { Informer, KubeObject, OwnWrites } from "../kube/index.ts";
import { lastingPauses, type NameGuarantee } from "../policy/index.ts";
import {
  type AutomationPause,
  annotationKeys,
  type Engine as EngineName,
  isRecorded,
  type Kinds,
  type KindsCache,
  labelKeys,
  type ObjectTarget,
  parseRecordedTarget,
  type RecordHolder,
  type RemediationApprovalRequest,
  type RemediationTarget,
  readCancelRequest,
  remediationApprovalRequests,
  remediationTargets,
  runName,
  targetHash,
  type WorkflowExecution,
} from "../resources/index.ts";
import { approvalName } from "./admission/approval.ts";
import { type CatalogCaches, findEntry, isBeforeRun } from "./admission/find-entry.ts";
import { type Plan, type PlanDefaults, planExecution, planTarget, type TargetPlan } from "./admission/plan.ts";
import { retentionEndMs } from "./endings/retention.ts";
import type { CancelReason, ExecutorSettings, ObservedRun, RunOwner, Snapshot } from "./snapshot.ts";

/** The informers that the executor reads. They may be a moment old, so every write is conditional. */
export interface Caches extends Omit<CatalogCaches, "kinds"> {
  readonly kinds: KindsCache;
  readonly executions: Informer<WorkflowExecution, "uid">;
  readonly records: Informer<RemediationTarget>;
  readonly pauses: Informer<AutomationPause>;
  readonly ownWrites: OwnWrites;
  /** Uids of the executions that this process has admitted, until they are deleted. */
  readonly admitted: Set<string>;
  readonly engines: ReadonlyMap<EngineName, Engine>;
  /** The runs of each engine. */
  readonly runs: ReadonlyMap<EngineName, Informer<KubeObject, "target">>;
  /** The namespace of runs and target records. */
  readonly namespace: string;
  readonly defaults: PlanDefaults;
  readonly settings: ExecutorSettings;
  /** Since when no user can acknowledge in another user's name; undefined if one can. */
  readonly acknowledgersKnownSince?: AcknowledgersKnownSince | undefined;
}

export type AcknowledgersKnownSince = (signal: AbortSignal) => Promise<NameGuarantee | undefined>;

/** Reads everything that the next step of `execution` depends on. */
export async function observe(
  execution: WorkflowExecution,
  caches: Caches,
  signal: AbortSignal,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<Snapshot> {
  const nowMs = caches.client.serverNowMs();
  const { defaults, settings } = caches;
  const { read, kinds } = await readTarget(execution, caches, signal);
  const record = await readRecord(execution, read.target, caches, { signal, fresh });
  const plan =
    read.kind === "target"
      ? planExecution(execution, {
          target: read.target,
          found: await findEntry(execution, findHolder(execution, record), { ...caches, kinds }, signal),
          kinds,
          defaults,
        })
      : read;
  const approval = await readApproval(execution, plan, caches, signal);
  return {
    nowMs,
    execution,
    plan,
    record,
    run: await readRun({ execution, plan, record }, caches, { signal, fresh }),
    ...(approval && { approval }),
    pauses: lastingPauses(caches.pauses.list(), nowMs, kinds),
    ...((isAcknowledged(execution) || readCancelRequest(execution)) && {
      acknowledgersKnownSinceMs: await caches.acknowledgersKnownSince?.(signal),
    }),
    settings,
  };
}

interface ReadTarget {
  readonly read: TargetPlan;
  /** The kinds by which the target was parsed. */
  readonly kinds: Kinds;
}

/**
 * Parses the target of an execution. If its kind is unknown, the kinds are read from the API server: the definition may have
 * been applied a moment before the execution.
 */
async function readTarget(execution: WorkflowExecution, caches: Caches, signal: AbortSignal): Promise<ReadTarget> {
  const { current } = caches.kinds;
  const read = planTarget(execution, current);
  if (read.kind === "target" || !read.unknownKind) return { read, kinds: current };
  const kinds = isBeforeRun(execution) ? await caches.kinds.read(signal) : current;
  const again = planTarget(execution, kinds);
  return { read: again.kind === "target" ? again : { ...again, target: markedTarget(execution, caches) }, kinds };
}

/**
 * Returns the target by which an execution was marked while its kind was known. The execution may hold that target and have a
 * run on it, which end as usual although nothing else is started.
 */
function markedTarget(execution: WorkflowExecution, { records, runs, namespace }: Caches): ObjectTarget | undefined {
  const hash = execution.metadata.labels?.[labelKeys.targetHash];
  if (hash === undefined) return undefined;
  const onTarget = [...new Set(runs.values())].flatMap((informer) => informer.byIndex("target", hash));
  const texts = [
    execution.spec.targetResource,
    records.get({ namespace, name: hash })?.spec.targetResource,
    ...onTarget.map((run) => runOwner(run).target),
  ];
  for (const text of texts) {
    const read = text === undefined ? undefined : parseRecordedTarget(text);
    if (read?.kind !== "target" || read.target.type !== "object" || targetHash(read.target) !== hash) continue;
    return read.target;
  }
  return undefined;
}

/** Whether the object has the annotation of an acknowledgement, verified or not. */
export function isAcknowledged({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[annotationKeys.acknowledge] !== undefined;
}

/** Returns the holder in the record if it is the execution. */
function findHolder(execution: WorkflowExecution, record: RemediationTarget | undefined): RecordHolder | undefined {
  return record && holds(execution, record) ? record.status?.holder : undefined;
}

/**
 * Reads the approval that an execution without a run refers to from the server. It has to be in the namespace of incidents:
 * elsewhere the author of an execution may be able to write an approval, too.
 */
async function readApproval(
  execution: WorkflowExecution,
  plan: Plan,
  { client, settings }: Caches,
  signal: AbortSignal,
): Promise<RemediationApprovalRequest | undefined> {
  const name = approvalName(execution);
  if (name === undefined || plan.kind === "invalid") return undefined;
  if (!isBeforeRun(execution) || !plan.requiresApproval) return undefined;
  const ref = { namespace: settings.incidentsNamespace, name };
  return client.get(remediationApprovalRequests, ref, { signal });
}

interface ReadOptions {
  readonly signal: AbortSignal;
  /** Reads everything from the server, because a cache was outdated a moment ago. */
  readonly fresh: boolean;
}

/** Admission needs the current record: an outdated one could show a former holder, and the execution would be skipped. */
async function readRecord(
  execution: WorkflowExecution,
  target: ObjectTarget | undefined,
  caches: Caches,
  { signal, fresh }: ReadOptions,
) {
  if (!target) return undefined;
  const ref = { namespace: caches.namespace, name: targetHash(target) };
  const shown = caches.records.get(ref);
  if (!concernsRecord(execution, caches) && !mayHold(execution, shown, caches)) return undefined;
  const cached = current(shown, caches);
  if (cached && !fresh && isGoodEnough(cached, execution)) return cached;
  return caches.client.get(remediationTargets, ref, { signal });
}

/** A record that does not show a Running execution as its holder is outdated, or was rebuilt without it. */
function isGoodEnough(record: RemediationTarget, execution: WorkflowExecution): boolean {
  const phase = execution.status?.phase;
  if (phase === "Running") return holds(execution, record);
  return phase !== undefined && phase !== "Pending";
}

function holds({ metadata }: WorkflowExecution, record: RemediationTarget): boolean {
  return record.status?.holder?.executionUid === metadata.uid;
}

/** Most executions ended long ago: a replica that starts with a hundred thousand of them must not read a record for each. */
function concernsRecord(execution: WorkflowExecution, { client, settings }: Caches): boolean {
  const { metadata } = execution;
  const endMs = retentionEndMs(execution, settings);
  const isToRemove = endMs !== undefined && client.serverNowMs() >= endMs;
  return !isRecorded(execution) || metadata.deletionTimestamp !== undefined || isAcknowledged(execution) || isToRemove;
}

/** One replica may have admitted the execution while another skipped and recorded it: then it has to free the target. */
function mayHold(execution: WorkflowExecution, shown: RemediationTarget | undefined, caches: Caches): boolean {
  return shown !== undefined && (holds(execution, shown) || caches.ownWrites.isOutdated(shown));
}

/** Reads the run from the server only if the cache does not show it: before it is created, or reported as deleted. */
async function readRun(
  snapshot: EngineEvidence,
  caches: Caches,
  { signal, fresh }: ReadOptions,
): Promise<ObservedRun | undefined> {
  const { execution, plan } = snapshot;
  const engine = chooseEngine(snapshot, caches);
  if (!engine || !plan.target || !execution.status) return undefined;
  const ref = { namespace: caches.namespace, name: runName(plan.target) };
  const shown = caches.runs.get(engine.name)?.get(ref);
  const cached = fresh || !mayBeRunOf(execution, shown) ? undefined : current(shown, caches);
  const mustAsk = fresh || shown !== undefined || mayHaveRun(execution);
  const run = cached ?? (mustAsk ? await caches.client.get(engine.runs, ref, { signal }) : undefined);
  return run && toObservedRun(run, execution, plan.target.text, { engine, caches, signal });
}

/** An outdated cache may still show an earlier run of that name, which does not mean that our run is deleted. */
function mayBeRunOf({ status }: WorkflowExecution, shown: KubeObject | undefined): boolean {
  return status?.phase !== "Running" || status.pipelineRunRef.uid === shown?.metadata.uid;
}

/** Returns the cached object unless this process has changed or deleted it since. */
function current<T extends KubeObject>(shown: T | undefined, { ownWrites }: Caches): T | undefined {
  return shown && !ownWrites.isOutdated(shown) ? shown : undefined;
}

/** A skipped execution has no run unless the cache shows one, so the server is not asked for each of them. */
function mayHaveRun({ status, metadata }: WorkflowExecution): boolean {
  return status?.phase === "Pending" || status?.phase === "Running" || metadata.deletionTimestamp !== undefined;
}

type EngineEvidence = Pick<Snapshot, "execution" | "plan" | "record">;

/**
 * Returns the engine of the execution; undefined if it is not configured. An execution that was admitted stays with its
 * engine, even if the catalog changes.
 */
export function chooseEngine(
  { execution, plan, record }: EngineEvidence,
  { engines, defaults }: Caches,
): Engine | undefined {
  const { spec, status } = execution;
  const workload = status && "workload" in status ? status.workload : undefined;
  const known = findHolder(execution, record)?.engine ?? workload?.engine;
  const planned = plan.kind === "valid" ? plan.engine : spec.workflowRef.engine;
  return engines.get(known ?? planned ?? defaults.engine);
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
  const isEnding = isOver(state) && owner.kind === "us" && execution.status?.phase === "Running";
  const tellsWhy = isEnding && state.kind === "failed";
  const digests = isEnding ? await engine.digestsOf(object, signal) : [];
  const workload = engine.workloadOf(object);
  return {
    object,
    uid: object.metadata.uid ?? "",
    state,
    owner,
    workload: digests.length > 0 ? { ...workload, imageDigests: digests } : workload,
    ...(tellsWhy ? { failure: await engine.failureOf(object, signal) } : {}),
    ...(because === undefined ? {} : { cancelledBecause: because }),
  };
}

function isOver({ kind }: ObservedRun["state"]): boolean {
  return kind === "succeeded" || kind === "failed";
}

function classifyOwner(
  run: KubeObject,
  execution: WorkflowExecution,
  target: string,
  { executions }: Caches,
): RunOwner {
  const marks = runOwner(run);
  const what = `the ${run.kind} ${run.metadata.namespace}/${run.metadata.name}`;
  if (!marks.executionUid || !marks.target) {
    return {
      kind: "foreign",
      why: `${what} has the name of this target's runs, but was not made by an execution: remove it`,
    };
  }
  if (marks.target !== target) {
    return {
      kind: "foreign",
      why: `${what} is for ${marks.target}, whose name comes out the same: remove it when it has ended`,
    };
  }
  if (marks.executionUid === execution.metadata.uid) return { kind: "us" };

  const [other] = executions.byIndex("uid", marks.executionUid);
  return { kind: "other", name: other?.metadata.name ?? marks.executionUid, settled: !other || hasSettled(other, run) };
}

/** Whether the execution has ended with exactly this run, and will not read it again. */
function hasSettled({ status }: WorkflowExecution, run: KubeObject): boolean {
  if (status?.phase !== "Completed" && status?.phase !== "Failed") return status?.phase === "Skipped";
  return status.pipelineRunRef?.uid === run.metadata.uid;
}
