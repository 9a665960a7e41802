import { type Engine, runOwner } from "../engines/index.ts";
import type { Informer, KubeClient, KubeObject, OwnWrites } from "../kube/index.ts";
import { lastingPauses } from "../policy/index.ts";
import {
  type AutomationPause,
  annotationKeys,
  type Catalog,
  type Engine as EngineName,
  isRecorded,
  type Kinds,
  type RemediationTarget,
  type RemediationWorkflow,
  remediationTargets,
  runName,
  targetHash,
  type WorkflowExecution,
} from "../resources/index.ts";
import { type Plan, type PlanDefaults, planOf } from "./plan.ts";
import type { CancelReason, ExecutorSettings, RunOwner, Seen, SeenRun } from "./seen.ts";

/** Where the executor looks. What informers say may be a moment old: every write is conditional on it. */
export interface Sight {
  readonly client: KubeClient;
  readonly executions: Informer<WorkflowExecution, "uid">;
  readonly records: Informer<RemediationTarget>;
  readonly pauses: Informer<AutomationPause>;
  readonly ownWrites: OwnWrites;
  readonly catalog: Catalog;
  readonly engines: ReadonlyMap<EngineName, Engine>;
  /** The runs of each engine. */
  readonly runs: ReadonlyMap<EngineName, Informer<KubeObject, "target">>;
  readonly kinds: Kinds;
  /** Where runs and target records live. */
  readonly namespace: string;
  readonly defaults: PlanDefaults;
  readonly settings: ExecutorSettings;
  /** Since when nobody can acknowledge in another's name; undefined if anybody can. */
  readonly acknowledgersKnownSince?: AcknowledgersKnownSince | undefined;
}

export type AcknowledgersKnownSince = (signal: AbortSignal) => Promise<number | undefined>;

/** Everything the next step of `execution` depends on. */
export async function observe(
  execution: WorkflowExecution,
  sight: Sight,
  signal: AbortSignal,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<Seen> {
  const nowMs = sight.client.serverNowMs();
  const { kinds, defaults, settings } = sight;
  const plan = planOf(execution, { entry: entryOf(execution, sight), kinds, defaults });
  return {
    nowMs,
    execution,
    plan,
    record: await recordOf(execution, plan, sight, { signal, fresh }),
    run: await runOf(execution, plan, sight, { signal, fresh }),
    pauses: lastingPauses(sight.pauses.list(), nowMs, kinds),
    ...(isAcknowledged(execution) && { acknowledgersKnownSinceMs: await sight.acknowledgersKnownSince?.(signal) }),
    settings,
  };
}

/** By a person's annotation, whatever it is worth. */
export function isAcknowledged({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[annotationKeys.acknowledge] !== undefined;
}

function entryOf({ spec }: WorkflowExecution, { catalog }: Sight): RemediationWorkflow | undefined {
  return catalog.find(spec.workflowRef.workflowId, spec.workflowRef.version);
}

interface Reading {
  readonly signal: AbortSignal;
  /** True: a cache showed something old a moment ago, so everything is read from the server. */
  readonly fresh: boolean;
}

/** An execution is admitted by the record as it is: an old one could show a holder that is gone, and skip for it. */
async function recordOf(execution: WorkflowExecution, plan: Plan, sight: Sight, { signal, fresh }: Reading) {
  if (!plan.target) return undefined;
  const ref = { namespace: sight.namespace, name: targetHash(plan.target) };
  const shown = sight.records.get(ref);
  if (!concernsRecord(execution) && !mayHold(execution, shown, sight)) return undefined;
  const cached = current(shown, sight);
  if (cached && !fresh && isGoodEnough(cached, execution)) return cached;
  return sight.client.get(remediationTargets, ref, { signal });
}

/** A record that does not show a Running execution as its holder is old, or was made again without it. */
function isGoodEnough(record: RemediationTarget, execution: WorkflowExecution): boolean {
  const phase = execution.status?.phase;
  if (phase === "Running") return holds(execution, record);
  return phase !== undefined && phase !== "Pending";
}

function holds({ metadata }: WorkflowExecution, record: RemediationTarget): boolean {
  return record.status?.holder?.executionUid === metadata.uid;
}

/** Most executions are long over: whoever starts with a hundred thousand of them does not read a record for each. */
function concernsRecord(execution: WorkflowExecution): boolean {
  const { metadata } = execution;
  return !isRecorded(execution) || metadata.deletionTimestamp !== undefined || isAcknowledged(execution);
}

/** One replica may have admitted it at the moment at which another skipped it, and told so: then it has to give back. */
function mayHold(execution: WorkflowExecution, shown: RemediationTarget | undefined, sight: Sight): boolean {
  return shown !== undefined && (holds(execution, shown) || sight.ownWrites.isOutdated(shown));
}

/** Looked up at the server only if the cache does not have it: before it is created, or declared gone. */
async function runOf(
  execution: WorkflowExecution,
  plan: Plan,
  sight: Sight,
  { signal, fresh }: Reading,
): Promise<SeenRun | undefined> {
  const engine = engineOf(execution, plan, sight);
  if (!engine || !plan.target || !execution.status) return undefined;
  const ref = { namespace: sight.namespace, name: runName(plan.target) };
  const shown = sight.runs.get(engine.name)?.get(ref);
  const cached = fresh || !mayBeRunOf(execution, shown) ? undefined : current(shown, sight);
  const mustAsk = fresh || shown !== undefined || mayHaveRun(execution);
  const run = cached ?? (mustAsk ? await sight.client.get(engine.runs, ref, { signal }) : undefined);
  return run && seeRun(run, execution, plan.target.text, { engine, sight, signal });
}

/** The cache may lag behind and still show an earlier run of that name: no reason to think that ours is gone. */
function mayBeRunOf({ status }: WorkflowExecution, shown: KubeObject | undefined): boolean {
  return status?.phase !== "Running" || status.pipelineRunRef.uid === shown?.metadata.uid;
}

/** What a cache shows, unless we know better: we changed or deleted it ourselves a moment ago. */
function current<T extends KubeObject>(shown: T | undefined, { ownWrites }: Sight): T | undefined {
  return shown && !ownWrites.isOutdated(shown) ? shown : undefined;
}

/** A skipped execution has no run unless the cache knows of one: asking the server for each would be a call for nothing. */
function mayHaveRun({ status, metadata }: WorkflowExecution): boolean {
  return status?.phase === "Pending" || status?.phase === "Running" || metadata.deletionTimestamp !== undefined;
}

/** The engine it runs on, or would; undefined if that is not one of ours. */
export function engineOf({ spec }: WorkflowExecution, plan: Plan, { engines, defaults }: Sight): Engine | undefined {
  return engines.get(plan.kind === "valid" ? plan.engine : (spec.workflowRef.engine ?? defaults.engine));
}

interface Looking {
  readonly engine: Engine;
  readonly sight: Sight;
  readonly signal: AbortSignal;
}

async function seeRun(
  object: KubeObject,
  execution: WorkflowExecution,
  target: string,
  { engine, sight, signal }: Looking,
): Promise<SeenRun> {
  const state = engine.stateOf(object);
  const owner = ownerOf(object, execution, target, sight);
  const because = object.metadata.annotations?.[annotationKeys.cancelReason] as CancelReason | undefined;
  const tellsWhy = state.kind === "failed" && owner.kind === "us" && execution.status?.phase === "Running";
  return {
    object,
    uid: object.metadata.uid ?? "",
    state,
    owner,
    ...(tellsWhy ? { failure: await engine.failureOf(object, signal) } : {}),
    ...(because === undefined ? {} : { cancelledBecause: because }),
  };
}

function ownerOf(run: KubeObject, execution: WorkflowExecution, target: string, { executions }: Sight): RunOwner {
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

/** Terminal, and with this very run: then nothing more will be read from it. */
function hasSettled({ status }: WorkflowExecution, run: KubeObject): boolean {
  if (status?.phase !== "Completed" && status?.phase !== "Failed") return status?.phase === "Skipped";
  return status.pipelineRunRef?.uid === run.metadata.uid;
}
