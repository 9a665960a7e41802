import { setMaxListeners } from "node:events";
import type { Engine } from "../engines/index.ts";
import {
  type ChangeEvent,
  Controller,
  type Informer,
  informer,
  type KubeClient,
  type KubeObject,
  keysFrom,
  OwnWrites,
  objectKey,
  type Problem,
  type ResourceType,
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
import { announcer } from "./announce.ts";
import { eventRecorder } from "./kube-events.ts";
import { executorMetrics } from "./metrics.ts";
import type { AcknowledgersKnownSince, Caches } from "./observe.ts";
import type { PlanDefaults } from "./plan.ts";
import { reconcile } from "./reconcile.ts";
import type { ExecutorSettings } from "./snapshot.ts";
import { reconcileTarget } from "./targets.ts";

export interface ExecutorOptions {
  readonly client: KubeClient;
  readonly engines: readonly Engine[];
  readonly ledger: Ledger;
  readonly kinds: KindsCache;
  /** Where runs and target records live. */
  readonly namespace: string;
  /** Where the catalog is. */
  readonly catalogNamespace: string;
  readonly defaults: Omit<PlanDefaults, "engines">;
  readonly settings: ExecutorSettings;
  /** Since when nobody can acknowledge in another's name. Without it no name counts as verified. */
  readonly acknowledgersKnownSince?: AcknowledgersKnownSince;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Executions worked on at a time. */
  readonly concurrency?: number;
}

export interface Executor {
  /** Resolves when it knows everything and has begun to work. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  /** Why executions that are stalled cannot be reported as such; undefined while they can. */
  readonly problem: string | undefined;
  /** Begins nothing new, waits for what is under way, and stops following. */
  stop(options: { readonly deadlineMs: number }): Promise<void>;
}

/** Drives executions and looks after target records, from now on until `stop`. Any number of replicas may do so. */
export function startExecutor(options: ExecutorOptions): Executor {
  const { client, clock, random, log, ledger, namespace, kinds, concurrency = 64 } = options;
  const stop = new AbortController();
  // Every informer listens: more than Node takes for a leak.
  setMaxListeners(0, stop.signal);
  const problem = (problem: Problem) => log.warn("executor problem", problem);
  const follow = { client, clock, random, problem, signal: stop.signal };
  const ownWrites = new OwnWrites();
  const admitted = new Set<string>();

  const executions = informer<WorkflowExecution, "uid">({
    ...follow,
    type: workflowExecutions,
    indexes: { uid: ({ metadata }) => [metadata.uid ?? ""] },
  });
  const records = informer({ ...follow, type: remediationTargets, query: { namespace } });
  const pauses = informer({ ...follow, type: automationPauses });
  const entries = informer({
    ...follow,
    type: remediationWorkflows,
    // Entries elsewhere are not the catalog's: anybody who may write in some namespace could add one.
    query: { namespace: options.catalogNamespace },
    indexes: { workflowId: ({ spec }) => [spec.workflowId] },
  });
  const runs = followRuns(options.engines, (type) => {
    return informer({
      ...follow,
      type,
      query: { namespace, labelSelector: `${managedBy.label}=${managedBy.value}` },
      indexes: { target: ({ metadata }) => targetKey(metadata.labels) },
    });
  });
  for (const followed of [executions, records, ...new Set(runs.values())]) {
    followed.subscribe((event: ChangeEvent, object: KubeObject) => event === "DELETED" && ownWrites.forget(object));
  }
  executions.subscribe((event, { metadata }) => event === "DELETED" && admitted.delete(metadata.uid ?? ""));
  const engines = new Map(options.engines.map((engine) => [engine.name, engine]));
  const caches: Caches = {
    ...options,
    defaults: { ...options.defaults, engines: new Set(engines.keys()) },
    executions,
    records,
    pauses,
    ownWrites,
    admitted,
    entries,
    engines,
    runs,
  };
  const recorder = eventRecorder(client, log);
  const followed = { executions, records, entries, nowMs: () => client.serverNowMs() };
  const deps = {
    caches,
    ledger,
    announce: announcer({ log, metrics: executorMetrics(options.metrics, followed), recorder }),
    told: new Set<string>(),
  };

  /** A run concerns the execution that made it, and the one that holds its target now: that may wait for it to go. */
  const keysOfRun = ({ metadata }: KubeObject) => {
    const uid = metadata.annotations?.[annotationKeys.executionUid] ?? "";
    const [hash = ""] = targetKey(metadata.labels);
    const holder = records.get({ namespace, name: hash })?.status?.holder;
    return [...executions.byIndex("uid", uid).map(objectKey), ...holderKey(holder)];
  };
  const runInformers = [...new Set(runs.values())];
  const stalls = stallReporter({ ...options, stage: "executor" });
  const drive = new Controller({
    name: "executions",
    clock,
    random,
    problem,
    concurrency,
    sources: [
      keysFrom(executions, (execution) => [objectKey(execution)]),
      keysFrom(records, ({ status }) => holderKey(status?.holder)),
      keysFrom(entries, () => []),
      keysFrom(pauses, () => []),
      // Without the kinds that are defined, a valid execution would pass for an invalid one.
      {
        get hasSynced() {
          return kinds.hasSynced;
        },
        synced: kinds.synced,
        feed: () => () => {},
      },
      ...runInformers.map((informer) => keysFrom(informer, keysOfRun)),
    ],
    reconcile: (key, signal) => reconcile(refOfKey(key), deps, signal),
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
  const lookAfterTargets = new Controller({
    name: "targets",
    clock,
    random,
    problem,
    sources: [
      keysFrom(records, ({ metadata }) => [metadata.name ?? ""]),
      keysFrom(executions, ({ metadata }) => targetKey(metadata.labels)),
      ...runInformers.map((informer) => keysFrom(informer, ({ metadata }) => targetKey(metadata.labels))),
    ],
    reconcile: (key, signal) => reconcileTarget(key, deps, signal),
    stalls: stalls.watch({
      type: remediationTargets,
      noun: "target",
      find: (name) => records.get({ namespace, name }),
    }),
  });

  return {
    ready: Promise.all([drive.ready, lookAfterTargets.ready]).then(() => {}),
    get isReady() {
      return drive.isReady && lookAfterTargets.isReady;
    },
    get problem() {
      return stalls.problem;
    },
    async stop({ deadlineMs }) {
      await Promise.all([drive.stop({ deadlineMs }), lookAfterTargets.stop({ deadlineMs })]);
      await stalls.stop();
      await recorder.drain();
      stop.abort();
    },
  };
}

/** One informer for each kind of run: several engines may share one. */
function followRuns(
  engines: readonly Engine[],
  follow: (type: ResourceType<KubeObject>) => Informer<KubeObject, "target">,
) {
  const byKind = new Map<string, Informer<KubeObject, "target">>();
  const byEngine = new Map<EngineName, Informer<KubeObject, "target">>();
  for (const { name, runs } of engines) {
    const known = byKind.get(runs.kind) ?? follow(runs);
    byKind.set(runs.kind, known);
    byEngine.set(name, known);
  }
  return byEngine;
}

function holderKey(holder: { executionNamespace: string; executionName: string } | undefined): readonly string[] {
  return holder ? [`${holder.executionNamespace}/${holder.executionName}`] : [];
}

function targetKey(labels: Readonly<Record<string, string>> = {}): readonly string[] {
  const hash = labels[labelKeys.targetHash];
  return hash === undefined ? [] : [hash];
}
