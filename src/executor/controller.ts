import type { Engine } from "../engines/index.ts";
import {
  type ControllerGroup,
  controllerGroup,
  type Informer,
  type KubeClient,
  type KubeObject,
  keysFrom,
  labelKey,
  OwnWrites,
  objectKey,
  onlySynced,
  type ResourceType,
  type RunningControllers,
  reconcile,
  reconcileCached,
  refOf,
  refOfKey,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  annotationKeys,
  automationPauses,
  type Engine as EngineName,
  type KindsCache,
  labelKeys,
  managedBy,
  redactValues,
  remediationTargets,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { PlanDefaults } from "./admission/plan.ts";
import { decide } from "./decide.ts";
import { type AcknowledgersKnownSince, type Caches, observe } from "./observe.ts";
import { type Deps, perform } from "./perform.ts";
import { announcer } from "./reports/announce.ts";
import { eventRecorder } from "./reports/kube-events.ts";
import { executorMetrics } from "./reports/metrics.ts";
import type { ExecutorSettings } from "./snapshot.ts";
import { reconcileTarget } from "./targets/targets.ts";

export interface ExecutorOptions {
  readonly client: KubeClient;
  readonly engines: readonly Engine[];
  readonly ledger: Ledger;
  readonly kinds: KindsCache;
  /** The namespace of runs and target records. */
  readonly namespace: string;
  /** The namespace of the catalog. */
  readonly catalogNamespace: string;
  readonly defaults: Omit<PlanDefaults, "engines">;
  readonly settings: ExecutorSettings;
  /** Since when no user can acknowledge in another user's name. Without it no name counts as verified. */
  readonly acknowledgersKnownSince?: AcknowledgersKnownSince;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** The maximum number of executions that are reconciled at a time. */
  readonly concurrency?: number;
}

export type Executor = RunningControllers;

/** Drives executions and maintains target records until `stop`. Any number of replicas may run. */
export function startExecutor(options: ExecutorOptions): Executor {
  const { client, log, ledger, namespace, concurrency = 64 } = options;
  const group = controllerGroup({ ...options, problem: (problem) => log.warn("executor problem", problem) });
  const caches = openCaches(group, options);
  const { executions, records, pauses, entries, kinds } = caches;
  const runInformers = [...new Set(caches.runs.values())];
  const recorder = eventRecorder(client, log);
  const metrics = executorMetrics(options.metrics, { executions, records, entries, nowMs: () => client.serverNowMs() });
  const deps = { caches, ledger, announce: announcer({ log, metrics, recorder }), reportedLost: new Set<string>() };

  /** A run concerns the execution that created it, and the one that holds its target now: that may wait for its removal. */
  const runKeys = (run: KubeObject) => {
    const uid = run.metadata.annotations?.[annotationKeys.executionUid] ?? "";
    const [name = ""] = targetKey(run);
    const holder = records.get({ namespace, name })?.status?.holder;
    return [...executions.byIndex("uid", uid).map(objectKey), ...holderKey(holder)];
  };
  const stalls = stallReporter({ ...options, stage: "executor" });
  group.controller({
    name: "executions",
    concurrency,
    sources: [
      keysFrom(executions, (execution) => [objectKey(execution)]),
      keysFrom(records, ({ status }) => holderKey(status?.holder)),
      // Without the defined kinds, a valid execution would look invalid.
      ...[entries, pauses, kinds].map(onlySynced),
      ...runInformers.map((informer) => keysFrom(informer, runKeys)),
    ],
    reconcile: (key, signal) =>
      reconcileCached(executions.get(refOfKey(key)), caches.ownWrites, (execution) =>
        reconcileExecution(execution, deps, signal),
      ),
    stalls: stalls.watch({
      type: workflowExecutions,
      noun: "execution",
      find: (key) => executions.get(refOfKey(key)),
      redact: (text, execution) => {
        const { parameters = {}, workflowRef } = execution?.spec ?? {};
        const [entry] = entries.byIndex("workflowId", workflowRef?.workflowId ?? "");
        return redactValues(text, parameters, entry);
      },
    }),
  });
  group.controller({
    name: "targets",
    sources: [
      keysFrom(records, ({ metadata }) => [metadata.name ?? ""]),
      keysFrom(executions, targetKey),
      ...runInformers.map((informer) => keysFrom(informer, targetKey)),
    ],
    reconcile: (key, signal) => reconcileTarget(key, deps, signal),
    stalls: stalls.watch({
      type: remediationTargets,
      noun: "target",
      find: (name) => records.get({ namespace, name }),
    }),
  });
  return group.running({ stalls, drain: () => recorder.drain() });
}

function openCaches(group: ControllerGroup, options: ExecutorOptions): Caches {
  const { namespace } = options;
  const executions = group.informer<WorkflowExecution, "uid">({
    type: workflowExecutions,
    indexes: { uid: ({ metadata }) => [metadata.uid ?? ""] },
  });
  const records = group.informer({ type: remediationTargets, query: { namespace } });
  const entries = group.informer({
    type: remediationWorkflows,
    // Entries in other namespaces are not part of the catalog: their authors need not be catalog authors.
    query: { namespace: options.catalogNamespace },
    indexes: { workflowId: ({ spec }) => [spec.workflowId] },
  });
  const runs = openRuns(options.engines, (type) =>
    group.informer({
      type,
      query: { namespace, labelSelector: `${managedBy.label}=${managedBy.value}` },
      indexes: { target: targetKey },
    }),
  );
  const ownWrites = new OwnWrites();
  const admitted = new Set<string>();
  executions.subscribe((event, { metadata }) => event === "DELETED" && admitted.delete(metadata.uid ?? ""));
  const engines = new Map(options.engines.map((engine) => [engine.name, engine]));
  return {
    ...options,
    client: ownWrites.track(options.client, [executions, records, ...new Set(runs.values())]),
    defaults: { ...options.defaults, engines: new Set(engines.keys()) },
    executions,
    records,
    pauses: group.informer({ type: automationPauses }),
    ownWrites,
    admitted,
    entries,
    engines,
    runs,
  };
}

async function reconcileExecution(
  cached: WorkflowExecution,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { caches } = deps;
  return reconcile(await observe(cached, caches, signal), {
    decide,
    perform: (action, snapshot) => perform(action, snapshot, deps, signal),
    observeAgain: async (after) => after ?? observeFresh(cached, caches, signal),
  });
}

/** Observes everything as the API server has it, after a cache was found to be outdated. */
async function observeFresh(cached: WorkflowExecution, caches: Caches, signal: AbortSignal) {
  const current = await caches.client.get(workflowExecutions, refOf(cached), { signal });
  if (current) caches.ownWrites.note(current);
  if (current?.metadata.uid !== cached.metadata.uid) caches.ownWrites.noteGone(cached);
  return current && observe(current, caches, signal, { fresh: true });
}

/** One informer for each kind of run: several engines may share one. */
function openRuns(
  engines: readonly Engine[],
  open: (type: ResourceType<KubeObject>) => Informer<KubeObject, "target">,
) {
  const byKind = new Map<string, Informer<KubeObject, "target">>();
  const byEngine = new Map<EngineName, Informer<KubeObject, "target">>();
  for (const { name, runs } of engines) {
    const known = byKind.get(runs.kind) ?? open(runs);
    byKind.set(runs.kind, known);
    byEngine.set(name, known);
  }
  return byEngine;
}

function holderKey(holder: { executionNamespace: string; executionName: string } | undefined): readonly string[] {
  return holder ? [`${holder.executionNamespace}/${holder.executionName}`] : [];
}

const targetKey = labelKey(labelKeys.targetHash);
