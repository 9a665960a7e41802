import type { Locks } from "../coordination/index.ts";
import {
  byAge,
  type ControllerGroup,
  controllerGroup,
  type Decision,
  type KeySource,
  type KubeObject,
  keysFrom,
  objectKey,
  onlySynced,
  problemLogger,
  type ReconcileSteps,
  type RunningControllers,
  reconcile,
  reconcileCached,
  refOf,
  refOfKey,
  requeueAfter,
} from "../kube/index.ts";
import { type RemediationRequest, remediationRequests } from "../resources/index.ts";
import { stallReporter } from "../stalls/index.ts";
import type { Logger, Metrics } from "../telemetry/index.ts";
import type { Clock, Random } from "../time/index.ts";
import type { Action } from "./action.ts";
import { reconcileRequestedApproval } from "./approvals/requested-approvals.ts";
import { type Caches, type CachesOptions, openCaches, routingKeys, ruleKeys, targetHashKey } from "./caches.ts";
import { decide, factsRecheckMs, isWaiting, needsAnalysis, nextRecheckMs } from "./decide.ts";
import type { Analyzer } from "./incidents/analyzer.ts";
import { isPartial } from "./incidents/cached-incident.ts";
import { observe } from "./observe.ts";
import { type Deps, perform } from "./perform.ts";
import { announcer } from "./reports/announce.ts";
import { orchestratorMetrics } from "./reports/metrics.ts";
import { type PauseRecorderOptions, recordPause } from "./reports/record-pause.ts";
import type { Snapshot } from "./snapshot.ts";
import { reconcileTarget } from "./targets/targets.ts";

export interface OrchestratorOptions extends CachesOptions, PauseRecorderOptions {
  readonly locks: Locks;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The maximum number of incidents, and of targets, that are reconciled at a time. */
const concurrency = 16;

export type Orchestrator = RunningControllers;

/** Drives incidents until `stop`. Any number of replicas may run. */
export function startOrchestrator(options: OrchestratorOptions): Orchestrator {
  const { log, ledger, locks, analyzer, kinds, metrics } = options;
  const group = controllerGroup({ ...options, problem: problemLogger("orchestrator problem", options) });
  const caches = openCaches(group, options);
  const { incidents, executions, approvals, records, pauses, entries, newest, outdated } = caches;
  const announce = announcer({ log, count: orchestratorMetrics(metrics, incidents) });
  const deps = { caches, ledger, announce, locks };
  /** For changes that may affect the decisions about all targets. */
  const allTargets = () => [...new Set(incidents.list().flatMap(routingKeys))];
  /** The incidents whose diagnosis may change. */
  const toDiagnose = () => {
    const waiting = incidents.list().filter(isWaiting).map(objectKey);
    outdated.add(waiting);
    return [...waiting, ...incidents.list().filter(needsAnalysis).map(objectKey)];
  };
  const stalls = stallReporter({ ...options, stage: "orchestrator", metricPrefix: "ro" });
  group.controller({
    name: "incidents",
    concurrency,
    sources: [
      keysFrom(incidents, (incident) => [objectKey(incident)]),
      newest.superseded,
      keysFrom(executions, ownerKey),
      keysFrom(approvals, ownerKey),
      keysFrom(entries, toDiagnose),
      keysOnChange(analyzer, incidents.synced, toDiagnose),
      keysOnChange(kinds, kinds.synced, toDiagnose),
    ],
    reconcile: (key, signal) =>
      reconcileCached(incidents.get(refOfKey(key)), caches.ownWrites, (incident) =>
        reconcileIncident(incident, deps, signal),
      ),
    stalls: stalls.watch({
      type: remediationRequests,
      noun: "incident",
      initialStatus: { phase: "Pending" },
      find: (key) => incidents.get(refOfKey(key)),
    }),
  });
  group.controller({
    name: "targets",
    concurrency,
    sources: [
      keysFrom(incidents, routingKeys),
      // Incidents of a symptom wait for those of their cause.
      keysFrom(incidents, (incident) =>
        ruleKeys(incident).flatMap((rule) => incidents.byIndex("cause", rule).flatMap(routingKeys)),
      ),
      keysFrom(executions, targetHashKey),
      keysFrom(records, ({ metadata }) => [metadata.name ?? ""]),
      keysFrom(pauses, allTargets),
      keysFrom(entries, allTargets),
      onlySynced(approvals),
      keysOnChange(kinds, kinds.synced, allTargets),
    ],
    reconcile: (key, signal) => reconcileTarget(key, deps, signal),
    stalls: stalls.watch({
      type: remediationRequests,
      noun: "incident",
      // The others on the target wait for the oldest.
      find: (hash) => [...incidents.byIndex("target", hash)].sort(byAge)[0],
    }),
  });
  startRecorders(group, caches, options);
  return group.running({ stalls });
}

/** Records the starts and ends of pauses, and the answers to approvals without an incident. */
function startRecorders(group: ControllerGroup, { pauses, approvals }: Caches, options: OrchestratorOptions): void {
  group.controller({
    name: "pauses",
    sources: [keysFrom(pauses, (pause) => [objectKey(pause)])],
    async reconcile(key, signal) {
      const pause = pauses.get(refOfKey(key));
      if (pause) await recordPause(pause, options, signal);
      return undefined;
    },
  });
  group.controller({
    name: "approvals",
    sources: [keysFrom(approvals, (approval) => [objectKey(approval)])],
    async reconcile(key, signal) {
      const approval = approvals.get(refOfKey(key));
      return approval && reconcileRequestedApproval(approval, options, signal);
    },
  });
}

async function reconcileIncident(
  cached: RemediationRequest,
  deps: Deps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const observed = await observe(cached, deps.caches, signal);
  // Its deletion arrives as an event.
  return observed && reconcile(observed, incidentSteps(cached, deps, signal));
}

function incidentSteps(cached: RemediationRequest, deps: Deps, signal: AbortSignal): ReconcileSteps<Snapshot, Action> {
  const { caches } = deps;
  return {
    decide(snapshot) {
      const decision = decide(snapshot);
      return decision.actions.length > 0 ? decision : settleAnalysis(snapshot, decision, caches);
    },
    async perform(action, snapshot) {
      // A status is written as a whole, so the whole incident has to be read before any action.
      return isPartial(snapshot.incident) ? { kind: "stale" } : perform(action, snapshot, deps, signal);
    },
    async observeAgain(after, before) {
      const incident = after?.incident ?? (await caches.client.get(remediationRequests, refOf(cached), { signal }));
      // Changes of other objects arrive as events; the caches may not show them yet.
      if (incident === before.incident || incident?.metadata.uid !== cached.metadata.uid) return undefined;
      return incident && observe(incident, caches, signal);
    },
  };
}

/** Marks the analysis as current when nothing is left to do. It stays outdated until the facts of its rules are readable. */
function settleAnalysis(snapshot: Snapshot, decision: Decision<Action>, { outdated }: Caches): Decision<Action> {
  const { analysis, analysisVersion: version, outdatedSince: change } = snapshot;
  if (analysis?.kind === "no-match" && analysis.unreadable) {
    return requeueAfter(Math.min(decision.requeueAfterMs ?? factsRecheckMs, factsRecheckMs));
  }
  outdated.settle(objectKey(snapshot.incident), { change, version, recheckAtMs: nextRecheckMs(snapshot) });
  return decision;
}

/**
 * Adds the keys of decisions that may change: rules or kinds changed, or may have changed while this process did not run.
 * Work does not begin before they are `synced`.
 */
function keysOnChange(
  source: Pick<Analyzer, "subscribe">,
  synced: Promise<void>,
  keys: () => readonly string[],
): KeySource {
  return {
    synced,
    feed: (add) => {
      synced.then(
        () => keys().forEach(add),
        () => {},
      );
      return source.subscribe(() => keys().forEach(add));
    },
  };
}

function ownerKey({ metadata }: KubeObject): readonly string[] {
  const owners = metadata.ownerReferences ?? [];
  const { kind } = remediationRequests;
  return owners.flatMap((owner) =>
    owner.controller && owner.kind === kind ? [`${metadata.namespace}/${owner.name}`] : [],
  );
}
