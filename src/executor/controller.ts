import {
  controllerGroup,
  type KubeObject,
  keysFrom,
  objectKey,
  onlySynced,
  problemLogger,
  type RunningControllers,
  reconcile,
  reconcileCached,
  refOf,
  refOfKey,
} from "../kube/index.ts";
import type { Ledger } from "../ledger/index.ts";
import {
  annotationKeys,
  redactValues,
  remediationTargets,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import { type Caches, type CachesOptions, openCaches, targetHashKey } from "./caches.ts";
import { decide } from "./decide.ts";
import type { Deps } from "./deps.ts";
import { observe } from "./observe.ts";
import { perform } from "./perform.ts";
import { announcer } from "./reports/announce.ts";
import { eventRecorder } from "./reports/kube-events.ts";
import { executorMetrics } from "./reports/metrics.ts";
import { reconcileTarget } from "./targets/targets.ts";

export interface ExecutorOptions extends CachesOptions {
  readonly ledger: Ledger;
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
  const group = controllerGroup({ ...options, problem: problemLogger("executor problem", options) });
  const caches = openCaches(group, options);
  const { executions, records, pauses, entries, kinds } = caches;
  const runInformers = [...new Set(caches.runs.values())];
  const recorder = eventRecorder(client, log);
  const count = executorMetrics(options.metrics, { executions, records, entries, nowMs: () => client.serverNowMs() });
  const deps = { caches, ledger, announce: announcer({ log, count, recorder }), reportedLost: new Set<string>() };

  /** Returns the execution that created the run, and the holder of its target, which may wait for the deletion of the run. */
  const runKeys = (run: KubeObject) => {
    const uid = run.metadata.annotations?.[annotationKeys.executionUid] ?? "";
    const [name = ""] = targetHashKey(run);
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
      // Without the kinds of the API server, a valid execution would be found invalid.
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
      keysFrom(executions, targetHashKey),
      ...runInformers.map((informer) => keysFrom(informer, targetHashKey)),
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

async function reconcileExecution(
  cached: WorkflowExecution,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { caches } = deps;
  return reconcile(await observe(cached, caches, signal), {
    decide,
    perform: (action, snapshot) => perform(action, snapshot, { ...deps, signal }),
    observeAgain: async (after) => after ?? observeFresh(cached, caches, signal),
  });
}

/** Reads everything from the API server, after a cache was found to be outdated. */
async function observeFresh(cached: WorkflowExecution, caches: Caches, signal: AbortSignal) {
  const current = await caches.client.get(workflowExecutions, refOf(cached), { signal });
  if (current) caches.ownWrites.note(current);
  if (current?.metadata.uid !== cached.metadata.uid) caches.ownWrites.noteGone(cached);
  return current && observe(current, caches, signal, { fresh: true });
}

function holderKey(holder: { executionNamespace: string; executionName: string } | undefined): readonly string[] {
  return holder ? [`${holder.executionNamespace}/${holder.executionName}`] : [];
}
